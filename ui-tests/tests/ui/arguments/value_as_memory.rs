//! A plain value is no memory.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test(n: f32) {
        memset clear = n <- 0.0;
    }
}

fn main() {}
