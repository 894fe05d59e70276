//! The ends of a range are `usize`s, whose types rustc checks.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        host input: [f32; 64];
        device data: [f32; 64];
        param n: u32 = 64;
        memcpy up = input[..n] -> data;
    }
}

fn main() {}
