//! A memset sets elements to a value of their type.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [u32; 4];
        memset zero = data <- 0.5;
    }
}

fn main() {}
