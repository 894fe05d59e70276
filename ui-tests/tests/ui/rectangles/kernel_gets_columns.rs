//! Kernels get memory in one piece.
use graph_runtime::cuda_graph;
use ui_tests::*;

cuda_graph! {
    graph Test {
        device data: [[f32; 8]; 8];
        kernel fill = write<<<1, 8>>>(&mut data[..][0..4]);
    }
}

fn main() {}
