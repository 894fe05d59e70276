//! The initial value of a `param` has its type.
use graph_runtime::cuda_graph;
use ui_tests::scaled;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        param factor: f32 = "two";
        kernel double = scaled<<<1, 4>>>(&mut data, factor, 4);
    }
}

fn main() {}
