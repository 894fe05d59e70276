//! A shape has at most four dimensions.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [[[[[f32; 2]; 2]; 2]; 2]; 2];
        memset zero = data <- 0.0;
    }
}

fn main() {}
