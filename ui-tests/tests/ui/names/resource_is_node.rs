//! The data that a node makes is in a resource; nodes hold no memory.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        host input: [f32; 4];
        device data: [f32; 4];
        memset zero = data <- 0.0;
        memcpy download = zero -> input after zero;
    }
}

fn main() {}
