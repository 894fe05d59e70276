//! Nodes that are repeated stand in braces.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: f32;
        for i in 0..4
        memset set = data <- 1.0;
    }
}

fn main() {}
