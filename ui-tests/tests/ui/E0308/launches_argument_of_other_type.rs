//! An argument has the parameter's type.
use graph_runtime::cuda_graph;
use ui_tests::scaled;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        kernel double = scaled<<<1, 4>>>(&mut data, 2, 4);
    }
}

fn main() {}
