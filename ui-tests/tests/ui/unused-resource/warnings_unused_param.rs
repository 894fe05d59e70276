//! A `param` that no node uses is a warning.
#![deny(deprecated)]
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        param level: f32 = 1.0;
        memset zero = data <- 0.0;
    }
}

fn main() {}
