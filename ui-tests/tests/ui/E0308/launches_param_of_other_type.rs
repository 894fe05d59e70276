//! A `param` has the type that its uses need.
use graph_runtime::cuda_graph;
use ui_tests::scaled;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        param factor: f64 = 2.0;
        kernel double = scaled<<<1, 4>>>(&mut data, factor, 4);
    }
}

fn main() {}
