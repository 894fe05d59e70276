//! Params choose ranges of copies and memsets, but not of kernels.
use graph_runtime::cuda_graph;
use ui_tests::write;

cuda_graph! {
    graph Test {
        device data: [f32; 64];
        param n: usize = 32;
        kernel fill = write<<<1, 32>>>(&mut data[..n]);
    }
}

fn main() {}
