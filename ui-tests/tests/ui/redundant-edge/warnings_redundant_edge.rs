//! An edge that follows from others is a warning.
#![deny(deprecated)]
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        join start;
        join middle after start;
        join end after start, middle;
    }
}

fn main() {}
