//! Kernels take device memory, to read as well.
use graph_runtime::cuda_graph;
use ui_tests::read;

cuda_graph! {
    graph Test {
        host input: [f32; 4];
        device data: [f32; 4];
        kernel copy = read<<<1, 4>>>(&input, &mut data);
    }
}

fn main() {}
