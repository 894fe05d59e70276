//! `edit` is a method of every graph.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        memset edit = data <- 1.0;
    }
}

fn main() {}
