//! `mut` stands before `device`.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test(w: device mut [f32; 4]) {
        memset zero = w <- 0.0;
    }
}

fn main() {}
