//! A `for` orders nothing: its nodes do.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: f32;
        memset clear = data <- 0.0;
        for i in 0..4 {
            memset set = data <- 1.0;
        } after clear;
    }
}

fn main() {}
