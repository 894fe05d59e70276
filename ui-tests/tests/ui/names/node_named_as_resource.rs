//! Nodes and resources share one namespace.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        memset data = data <- 0.0;
    }
}

fn main() {}
