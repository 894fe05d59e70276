//! A constant tuple has at most three dimensions.
use graph_runtime::cuda_graph;
use ui_tests::write;

const BLOCK: (u32, u32, u32, u32) = (64, 1, 1, 1);

cuda_graph! {
    graph Test {
        device data: [f32; 2048];
        kernel fill = write<<<1, BLOCK>>>(&mut data);
    }
}

fn main() {}
