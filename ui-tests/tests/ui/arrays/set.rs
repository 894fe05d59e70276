//! A memset needs an address.
use graph_runtime::cuda_graph;
use ui_tests::*;

cuda_graph! {
    graph Test {
        array from: [[f32; 8]; 4];
        array to: [[f32; 8]; 4];
        memset clear = from <- 0.0;
        kernel blur = soften<<<4, 8>>>(&from, &mut to) after clear;
    }
}

fn main() {}
