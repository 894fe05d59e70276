//! Only kernels have priorities.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 1024];
        #[priority(-1)]
        memset clear = data <- 0.0;
    }
}

fn main() {}
