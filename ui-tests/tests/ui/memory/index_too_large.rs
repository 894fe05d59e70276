//! An index is less than the length.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [[f32; 4]; 8];
        memset zero = data[8] <- 0.0;
    }
}

fn main() {}
