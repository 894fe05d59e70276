//! Two graphs of one name in one call.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        join a;
    }
    graph Test {
        join b;
    }
}

fn main() {}
