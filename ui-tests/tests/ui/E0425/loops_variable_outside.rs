//! A variable means nothing outside of its `for`.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        for i in 0..4 {
            memset set = data[i] <- 1.0;
        }
        memset last = data[i] <- 2.0 after set;
    }
}

fn main() {}
