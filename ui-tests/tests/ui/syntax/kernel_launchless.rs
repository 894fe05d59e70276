//! A kernel node says what it launches.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        kernel fill;
    }
}

fn main() {}
