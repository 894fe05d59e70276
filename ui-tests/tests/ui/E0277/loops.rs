//! Mistakes in loops.
use graph_runtime::cuda_graph;

// A range has two ends.
cuda_graph! {
    graph RangeIsNumber {
        device data: f32;
        for i in 4 {
            memset set = data <- 1.0;
        }
    }
}

// A range counts.
cuda_graph! {
    graph RangeOfFloats {
        device data: f32;
        for i in 0.0..4.0 {
            memset set = data <- 1.0;
        }
    }
}

fn main() {}
