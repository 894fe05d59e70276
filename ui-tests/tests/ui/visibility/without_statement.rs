//! A visibility begins a statement.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        memset zero = data <- 0.0; pub
    }
}

fn main() {}
