//! Lengths of one name and different literals differ, whatever the name's value is.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test(n: usize, d: usize) {
        host input: [[f32; d]; n];
        device data: [[f32; d]; n + 1];
        memcpy upload = input -> data;
    }
}

fn main() {}
