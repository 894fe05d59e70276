//! A memcpy copies between two places.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 8];
        memcpy shift = data[..4] -> data[2..6];
    }
}

fn main() {}
