//! After `pub` comes what Rust has there.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        pub(friend) memset zero = data <- 0.0;
    }
}

fn main() {}
