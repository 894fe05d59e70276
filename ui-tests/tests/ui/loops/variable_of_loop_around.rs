//! A `for` has a variable of its own.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        for i in 0..4 {
            for i in 0..4 {
                memset set = data[i] <- 1.0;
            }
        }
    }
}

fn main() {}
