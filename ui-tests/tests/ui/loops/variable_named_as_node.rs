//! Variables share the one namespace.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: f32;
        memset layer = data <- 0.0;
        for layer in 0..4 {
            memset set = data <- 1.0 after layer;
        }
    }
}

fn main() {}
