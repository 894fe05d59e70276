//! `after` names nodes: what runs after the memory is written runs after the node that writes it.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        memset zero = data <- 0.0;
        join end after data;
    }
}

fn main() {}
