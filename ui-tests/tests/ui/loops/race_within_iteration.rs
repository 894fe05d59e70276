//! Parts that a variable selects may overlap in some iteration.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 7];
        for i in 0..4 {
            memset low = data[i] <- 1.0;
            memset high = data[2 * i] <- 1.0;
        }
    }
}

fn main() {}
