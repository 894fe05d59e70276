//! Elements are counted from 0, so the length is no index.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test(n: usize, d: usize) {
        device data: [[f32; d]; n];
        memset clear = data[n] <- 0.0;
    }
}

fn main() {}
