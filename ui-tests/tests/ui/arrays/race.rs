//! Nothing orders the two kernels.
use graph_runtime::cuda_graph;
use ui_tests::*;

cuda_graph! {
    graph Test {
        array from: [[f32; 8]; 4];
        array to: [[f32; 8]; 4];
        kernel there = soften<<<4, 8>>>(&from, &mut to);
        kernel back = soften<<<4, 8>>>(&to, &mut from);
    }
}

fn main() {}
