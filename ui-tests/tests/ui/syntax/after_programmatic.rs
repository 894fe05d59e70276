//! Programmatic edges are part of the language, but not of this version.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        join start;
        join end after programmatic(start);
    }
}

fn main() {}
