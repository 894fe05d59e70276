//! A negative integer fits no unsigned parameter.
use graph_runtime::cuda_graph;
use ui_tests::scaled;

const NONE: i64 = -1;

cuda_graph! {
    graph Test {
        device data: [f32; 64];
        kernel first = scaled<<<1, 64>>>(&mut data, 2.0, -1);
        kernel second = scaled<<<1, 64>>>(&mut data, 2.0, NONE) after first;
    }
}

fn main() {}
