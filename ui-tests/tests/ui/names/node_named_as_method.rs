//! No name is that of a method of every graph.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        memset launch = data <- 0.0;
    }
}

fn main() {}
