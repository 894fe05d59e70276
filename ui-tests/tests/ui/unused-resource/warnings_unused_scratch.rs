//! Scratch memory that no node uses is a warning.
#![deny(deprecated)]
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        scratch spare: [f32; 4];
        device data: [f32; 4];
        memset zero = data <- 0.0;
    }
}

fn main() {}
