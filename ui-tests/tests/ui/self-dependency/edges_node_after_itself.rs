//! No node runs after itself.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        memset zero = data <- 0.0 after zero;
    }
}

fn main() {}
