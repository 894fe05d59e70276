//! Arguments and statements share one namespace.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test(data: usize) {
        device data: [f32; 4];
        memset clear = data <- 0.0;
    }
}

fn main() {}
