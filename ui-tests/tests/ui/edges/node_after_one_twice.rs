//! `after` names a node once.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        join a;
        join b;
        join end after a, b, a;
    }
}

fn main() {}
