//! A range has two ends.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: f32;
        for i in 4 {
            memset set = data <- 1.0;
        }
    }
}

fn main() {}
