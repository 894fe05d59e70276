//! Four columns are not eight.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        host   input: [[f32; 8]; 8];
        device data:  [[f32; 8]; 8];
        memcpy up = input[..][..4] -> data;
    }
}

fn main() {}
