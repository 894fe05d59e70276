use graph_runtime::cuda_graph;
use ui_tests::scale;

cuda_graph! {
    graph Test {
        device data: [f32; 64];
        kernel double = scale<<<1, 64>>>(&mut data, 2.0);
    }
}

fn main() {}
