//! A copy cannot overlap itself, and a param may choose any range.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 64];
        param n: usize = 32;
        memcpy shift = data[..n] -> data[64 - n..];
    }
}

fn main() {}
