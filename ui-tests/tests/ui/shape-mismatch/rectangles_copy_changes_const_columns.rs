//! Lengths that only rustc knows.
use graph_runtime::cuda_graph;

const LOW: usize = 3;

cuda_graph! {
    graph Test {
        host   input: [[f32; 8]; 8];
        device data:  [[f32; 8]; 8];
        memcpy up = input[..][..LOW] -> data[..][LOW..];
    }
}

fn main() {}
