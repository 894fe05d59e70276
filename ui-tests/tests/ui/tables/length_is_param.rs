//! A param gives no inner length either.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test(n: usize) {
        param d: usize = 4;
        device data: [[f32; d]; n];
        memset clear = data <- d as f32;
    }
}

fn main() {}
