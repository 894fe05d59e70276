use graph_runtime::cuda_graph;
use ui_tests::scale;

cuda_graph! {
    graph Test {
        device data: [u32; 64];
        kernel double = scale::<u32><<<1, 64>>>(&mut data, 2);
    }
}

fn main() {}
