//! A statement starts with the keyword that says what it is.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        mmeset zero = data <- 0.0;
    }
}

fn main() {}
