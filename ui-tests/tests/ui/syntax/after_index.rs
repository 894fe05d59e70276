//! An index of a node of a `for`.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        for i in 0..4 {
            memset zero = data[i] <- 0.0;
        }
        memset one = data <- 1.0 after zero[3];
    }
}

fn main() {}
