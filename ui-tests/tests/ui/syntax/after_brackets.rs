//! `after` is followed by the names of nodes, without brackets.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        join start;
        join end after [start];
    }
}

fn main() {}
