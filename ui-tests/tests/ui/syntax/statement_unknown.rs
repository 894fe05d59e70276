//! A statement starts with the keyword that says what it is.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        let data = 4;
        join start;
    }
}

fn main() {}
