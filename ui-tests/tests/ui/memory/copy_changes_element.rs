//! Both sides of a memcpy have the same shape, elements included.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        host input: [f32; 4];
        device data: [f64; 4];
        memcpy upload = input -> data;
    }
}

fn main() {}
