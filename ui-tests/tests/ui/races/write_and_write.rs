//! Two nodes that write the same memory are ordered.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        memset zero = data <- 0.0;
        memset one = data <- 1.0;
    }
}

fn main() {}
