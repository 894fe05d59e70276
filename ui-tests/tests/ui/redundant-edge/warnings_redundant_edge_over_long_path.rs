//! An edge that follows from others is a warning.
#![deny(deprecated)]
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        join start;
        join first after start;
        join second after first;
        join end after start, second;
    }
}

fn main() {}
