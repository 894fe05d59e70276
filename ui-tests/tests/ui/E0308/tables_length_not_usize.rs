//! A length is a `usize`.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test(n: usize, d: u32) {
        device data: [[f32; d]; n];
        memset clear = data <- 0.0;
    }
}

fn main() {}
