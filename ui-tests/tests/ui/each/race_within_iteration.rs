//! Two nodes of one iteration are unordered.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        each i in 0..4 {
            memset first = data[i] <- 0.0;
            memset second = data[i] <- 1.0;
        }
    }
}

fn main() {}
