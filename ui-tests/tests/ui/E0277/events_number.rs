//! A `record` records an event.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        record done = 3;
    }
}

fn main() {}
