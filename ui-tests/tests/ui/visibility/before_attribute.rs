//! Attributes come before the visibility.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        pub #[disabled] memset zero = data <- 0.0;
    }
}

fn main() {}
