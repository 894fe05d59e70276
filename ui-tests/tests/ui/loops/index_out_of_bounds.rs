//! Literals tell that an iteration leaves its memory.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device weights: [[f32; 8]; 4];
        device data: [f32; 8];
        for layer in 0..5 {
            memcpy load = weights[layer] -> data;
        }
    }
}

fn main() {}
