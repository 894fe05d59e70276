//! A place is in a declared resource.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        host input: [f32; 4];
        device data: [f32; 4];
        memcpy upload = inptu -> data;
    }
}

fn main() {}
