//! Statements have no visibility of their own.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        pub device data: [f32; 4];
        pub(crate) memset zero = data <- 0.0;
    }
}

fn main() {}
