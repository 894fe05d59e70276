//! A range starts within the length.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 8];
        memset zero = data[9..] <- 0.0;
    }
}

fn main() {}
