//! Parts that a variable selects may overlap.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 5];
        for i in 0..4 {
            memset low = data[i] <- 1.0;
            memset high = data[i + 1] <- 1.0;
        }
    }
}

fn main() {}
