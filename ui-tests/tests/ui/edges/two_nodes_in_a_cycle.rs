//! No two nodes run after each other.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        join a after b;
        join b after a;
    }
}

fn main() {}
