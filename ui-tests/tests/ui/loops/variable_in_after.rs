//! A variable is a number.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: f32;
        for i in 0..4 {
            memset set = data <- 1.0 after i;
        }
    }
}

fn main() {}
