//! Parts of iterations that are two apart meet.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 40];
        each i in 0..8 {
            memset even = data[4 * i] <- 0.0;
            memset odd = data[2 * i + 4] <- 1.0 after even;
        }
    }
}

fn main() {}
