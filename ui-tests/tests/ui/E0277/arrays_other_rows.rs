//! The rows of a texture have the length that the kernel knows.
use graph_runtime::cuda_graph;
use ui_tests::*;

cuda_graph! {
    graph Test {
        array from: [[f32; 16]; 4];
        array to: [[f32; 8]; 4];
        kernel blur = soften<<<4, 8>>>(&from, &mut to);
    }
}

fn main() {}
