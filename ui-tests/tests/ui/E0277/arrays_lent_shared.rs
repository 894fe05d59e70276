//! A kernel that stores needs the array for itself.
use graph_runtime::cuda_graph;
use ui_tests::*;

cuda_graph! {
    graph Test {
        array from: [[f32; 8]; 4];
        array to: [[f32; 8]; 4];
        kernel blur = soften<<<4, 8>>>(&from, &to);
    }
}

fn main() {}
