//! Both sides of a memcpy have the same shape; a range has its own length, an index has one dimension less.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        host input: [f32; 4];
        device data: [[f32; 4]; 8];
        memcpy upload = input[1..3] -> data[0];
    }
}

fn main() {}
