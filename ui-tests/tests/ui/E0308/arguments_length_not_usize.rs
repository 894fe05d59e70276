//! A length is a `usize`.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test(n: u32) {
        device data: [f32; n];
        memset clear = data <- 0.0;
    }
}

fn main() {}
