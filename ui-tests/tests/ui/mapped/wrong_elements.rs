//! The elements are words.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        mapped news: [u8; 4];
    }
}

fn main() {}
