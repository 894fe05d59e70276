//! Memory that a graph shares is written only where it says `mut`.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test(w: device [f32; 4]) {
        memset clear = w <- 0.0;
        memset again = w <- 1.0 after clear;
    }
}

fn main() {}
