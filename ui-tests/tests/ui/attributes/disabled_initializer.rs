//! A disabled node does not initialize memory.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        scratch tmp: [f32; 1024];
        device data: [f32; 1024];
        #[disabled]
        memset clear = tmp <- 0.0;
        memcpy use_it = tmp -> data after clear;
    }
}

fn main() {}
