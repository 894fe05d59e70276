//! A range counts.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: f32;
        for i in 0.0..4.0 {
            memset set = data <- 1.0;
        }
    }
}

fn main() {}
