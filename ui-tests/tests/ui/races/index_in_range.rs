//! Parts that meet are the same memory.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 8];
        memset row = data[4] <- 0.0;
        memset high = data[2..6] <- 1.0;
    }
}

fn main() {}
