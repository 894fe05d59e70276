//! Copies take all of an array.
use graph_runtime::cuda_graph;
use ui_tests::*;

cuda_graph! {
    graph Test {
        host row: [f32; 8];
        array from: [[f32; 8]; 4];
        array to: [[f32; 8]; 4];
        memcpy up = row -> from[0];
        kernel blur = soften<<<4, 8>>>(&from, &mut to) after up;
    }
}

fn main() {}
