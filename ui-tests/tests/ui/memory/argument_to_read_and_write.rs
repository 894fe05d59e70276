//! A kernel gets memory as `&mut` once, and then not as anything else.
use graph_runtime::cuda_graph;
use ui_tests::read;

cuda_graph! {
    graph Test {
        device data: [f32; 8];
        kernel shift = read<<<1, 4>>>(&data[..4], &mut data[2..6]);
    }
}

fn main() {}
