//! A contract may be about the scalar arguments.
use graph_runtime::cuda_graph;
use ui_tests::scaled;

cuda_graph! {
    graph Test {
        device data: [f32; 1000];
        kernel double = scaled<<<4, 256>>>(&mut data, 2.0, 1024);
    }
}

fn main() {}
