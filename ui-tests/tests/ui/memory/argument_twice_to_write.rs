//! A kernel gets memory as `&mut` once, and then not as anything else.
use graph_runtime::cuda_graph;
use ui_tests::two_out;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        kernel fill = two_out<<<1, 4>>>(&mut data, &mut data);
    }
}

fn main() {}
