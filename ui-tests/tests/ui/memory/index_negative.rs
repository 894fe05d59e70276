//! An index is not negative.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [[f32; 4]; 8];
        memset zero = data[-1] <- 0.0;
    }
}

fn main() {}
