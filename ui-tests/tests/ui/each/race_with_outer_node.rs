//! A node outside runs after none of the iterations.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 8];
        each i in 2..4 {
            memset part = data[2 * i] <- 0.0;
        }
        memset other = data[6] <- 1.0;
    }
}

fn main() {}
