//! A range that a param chooses may be any of the memory.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 64];
        param n: usize = 32;
        memset low = data[..n] <- 1.0;
        memset high = data[n..] <- 2.0;
    }
}

fn main() {}
