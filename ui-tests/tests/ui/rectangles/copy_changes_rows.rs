//! Two rows are not three.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        host   input: [[f32; 8]; 8];
        device data:  [[f32; 4]; 3];
        memcpy up = input[1..3][4..] -> data;
    }
}

fn main() {}
