//! The nodes of a `for` with a wrong tail are known to others.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        memset one = data <- 1.0;
        for i in 0..4 {
            memset zero = data[i] <- 0.0;
        } after one;
        memset two = data <- 2.0 after zero;
    }
}

fn main() {}
