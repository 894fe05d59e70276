//! Once is enough.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 1024];
        #[disabled]
        #[disabled]
        memset clear = data <- 0.0;
    }
}

fn main() {}
