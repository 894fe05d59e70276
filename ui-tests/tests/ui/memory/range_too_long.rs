//! A range ends within the length.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 8];
        memset zero = data[4..=8] <- 0.0;
    }
}

fn main() {}
