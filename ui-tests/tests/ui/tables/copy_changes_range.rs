//! A range takes elements from a length, whatever that is.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test(n: usize, d: usize) {
        host input: [[f32; d]; n];
        device data: [[f32; d]; n];
        memcpy upload = input[1..] -> data;
    }
}

fn main() {}
