//! Beside a mistake no warning is shown: mending the one may end the other.
#![deny(deprecated)]
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        device spare: [f32; 4];
        memset zero = data <- 0.0 after nobody;
    }
}

fn main() {}
