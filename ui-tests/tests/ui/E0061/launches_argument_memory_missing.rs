//! One argument, which is memory, is missing.
use graph_runtime::cuda_graph;
use ui_tests::read;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        kernel copy = read<<<1, 4>>>(&mut data);
    }
}

fn main() {}
