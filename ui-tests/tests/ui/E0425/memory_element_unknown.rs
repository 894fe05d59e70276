//! The types and constants of a shape are in scope.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        host input: [Sample; 4];
        device data: [f32; LEN];
        memset zero = data <- 0.0;
        memcpy upload = input -> data after zero;
    }
}

fn main() {}
