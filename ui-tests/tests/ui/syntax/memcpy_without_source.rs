//! A memcpy says from where to where.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        memcpy upload;
    }
}

fn main() {}
