//! Memory belongs to the whole graph.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        for i in 0..4 {
            device data: f32;
            memset set = data <- 1.0;
        }
    }
}

fn main() {}
