//! `unsafe` has no braces.
use graph_runtime::cuda_graph;
use ui_tests::indirect;

cuda_graph! {
    graph Test {
        device data: [u64; 4];
        kernel fill = unsafe { indirect<<<1, 4>>>(&mut data) };
    }
}

fn main() {}
