//! A visibility names a module around the graph.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        pub(in crate::other) memset zero = data <- 0.0;
    }
}

mod other {}

fn main() {}
