//! Warnings of the code `redundant-edge`.
#![deny(deprecated)]
use graph_runtime::cuda_graph;

// An edge that follows from others is a warning.
cuda_graph! {
    graph RedundantEdge {
        join start;
        join middle after start;
        join end after start, middle;
    }
}

// An edge that follows from others is a warning.
cuda_graph! {
    graph RedundantEdgeOverLongPath {
        join start;
        join first after start;
        join second after first;
        join end after start, second;
    }
}

fn main() {}
