//! A surface is of an array.
use graph_runtime::cuda_graph;
use ui_tests::*;

cuda_graph! {
    graph Test {
        device from: [[f32; 8]; 4];
        device to: [[f32; 8]; 4];
        kernel blur = soften<<<4, 8>>>(&from, &mut to);
    }
}

fn main() {}
