//! The nearest attribute is suggested.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 1024];
        #[disable]
        memset clear = data <- 0.0;
    }
}

fn main() {}
