//! A literal length of a table is known.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test(d: usize) {
        host input: [[f32; d]; 4];
        device data: [[f32; d]; 5];
        memcpy upload = input -> data;
    }
}

fn main() {}
