//! Memory has a shape.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data;
        memset zero = data <- 0.0;
    }
}

fn main() {}
