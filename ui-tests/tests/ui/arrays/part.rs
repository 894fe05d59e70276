//! An array has no address, so there are no parts of it.
use graph_runtime::cuda_graph;
use ui_tests::*;

cuda_graph! {
    graph Test {
        array planes: [[[f32; 8]; 4]; 2];
        array to: [[f32; 8]; 4];
        kernel blur = soften<<<4, 8>>>(&planes[0], &mut to);
    }
}

fn main() {}
