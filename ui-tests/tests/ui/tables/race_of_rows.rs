//! Rows of different names may be one row.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test(n: usize, d: usize, i: usize, j: usize) {
        device data: [[f32; d]; n];
        memset first = data[i] <- 0.0;
        memset second = data[j] <- 1.0;
    }
}

fn main() {}
