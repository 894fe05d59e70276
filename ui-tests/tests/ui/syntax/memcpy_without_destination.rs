//! A memcpy says from where to where.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        host input: [f32; 4];
        memcpy upload = input;
    }
}

fn main() {}
