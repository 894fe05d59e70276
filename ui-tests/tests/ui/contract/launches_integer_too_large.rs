//! An integer by value fits its parameter.
use graph_runtime::cuda_graph;
use ui_tests::scaled;

cuda_graph! {
    graph Test {
        device data: [f32; 64];
        kernel double = scaled<<<1, 64>>>(&mut data, 2.0, 4294967296);
    }
}

fn main() {}
