//! A disabled node does not end a `while`.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device more: u32;
        device data: [f32; 1024];
        while repeat = more {
            memset work = data <- 0.0;
            #[disabled]
            memset stop = more <- 0;
        };
    }
}

fn main() {}
