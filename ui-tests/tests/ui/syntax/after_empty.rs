//! `after` is followed by the names of nodes.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        join start;
        join end after;
    }
}

fn main() {}
