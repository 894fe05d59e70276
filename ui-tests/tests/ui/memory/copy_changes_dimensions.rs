//! Both sides of a memcpy have the same shape.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        host input: [[f32; 4]; 8];
        device data: [f32; 32];
        memcpy upload = input -> data;
    }
}

fn main() {}
