//! Eight columns are numbered from 0 to 7.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        host   input: [[f32; 8]; 8];
        device data:  [f32; 8];
        memcpy up = input[..][8] -> data;
    }
}

fn main() {}
