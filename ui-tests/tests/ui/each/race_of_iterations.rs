//! Iterations of an `each` are not ordered: each writes the same memory.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        each i in 0..4 {
            memset clear = data <- 0.0;
        }
    }
}

fn main() {}
