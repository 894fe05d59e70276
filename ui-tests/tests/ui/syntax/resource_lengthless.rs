//! The length is part of a shape.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32];
        memset zero = data <- 0.0;
    }
}

fn main() {}
