//! `after` names nodes.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        memset zero = data <- 0.0;
        join end after everything;
    }
}

fn main() {}
