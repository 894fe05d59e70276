//! A join is nothing but a name and its edges.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        join start = 4;
    }
}

fn main() {}
