//! Literal ends are compared at compile time.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        host input: [f32; 64];
        device data: [f32; 64];
        param n: usize = 0;
        memcpy up = input[n..65] -> data[n..64];
    }
}

fn main() {}
