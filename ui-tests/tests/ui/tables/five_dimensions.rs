//! Memory has at most four dimensions.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test(n: usize, d: usize) {
        device data: [[[[[f32; d]; 2]; 2]; 2]; n];
        memset clear = data <- 0.0;
    }
}

fn main() {}
