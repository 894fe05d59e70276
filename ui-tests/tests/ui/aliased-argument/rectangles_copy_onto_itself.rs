//! A copy reads columns that it also writes.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [[f32; 8]; 8];
        memcpy shift = data[..][0..4] -> data[..][3..7];
    }
}

fn main() {}
