//! A range ends within its memory.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test(n: usize, d: usize) {
        device data: [[f32; d]; n];
        memset clear = data[..=n] <- 0.0;
    }
}

fn main() {}
