//! Both sides have one shape, whatever a param chooses.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        host input: [[f32; 8]; 64];
        device data: [f32; 64];
        param n: usize = 8;
        memcpy up = input[..n] -> data[..n];
    }
}

fn main() {}
