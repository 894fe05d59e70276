//! A `for` has no accessor whose visibility could be told.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        pub for i in 0..4 { memset zero = data[i] <- 0.0; }
    }
}

fn main() {}
