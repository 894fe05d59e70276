//! Inner lengths are compared by name, too.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test(n: usize, d: usize) {
        host input: [[f32; d]; n];
        device data: [[f32; d - 1]; n];
        memcpy upload = input -> data;
    }
}

fn main() {}
