//! A common ancestor does not order its branches.
use graph_runtime::cuda_graph;
use ui_tests::read;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        device other: [f32; 4];
        memset zero = data <- 0.0;
        kernel left = read<<<1, 4>>>(&data, &mut other) after zero;
        kernel right = read<<<1, 4>>>(&data, &mut other) after zero;
    }
}

fn main() {}
