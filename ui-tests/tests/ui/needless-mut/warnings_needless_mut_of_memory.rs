//! `mut` says that the graph writes the memory that it shares.
#![deny(warnings)]
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test(w: mut device [f32; 4]) {
        device copy: [f32; 4];
        memcpy read = w -> copy;
    }
}

fn main() {}
