//! A parameter that is memory takes memory.
use graph_runtime::cuda_graph;
use ui_tests::write;

cuda_graph! {
    graph Test {
        kernel fill = write<<<1, 4>>>(4);
    }
}

fn main() {}
