//! A name is one that Rust allows.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        join loop;
    }
}

fn main() {}
