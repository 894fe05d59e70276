//! Variables share the one namespace.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: f32;
        for layer in 0..4 {
            memset set = data <- 1.0;
        }
        memset layer = data <- 0.0 after set;
    }
}

fn main() {}
