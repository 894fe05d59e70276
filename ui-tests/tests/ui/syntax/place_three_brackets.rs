//! Places select from two dimensions at most.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [[[f32; 8]; 8]; 8];
        memset zero = data[0][1][2] <- 0.0;
    }
}

fn main() {}
