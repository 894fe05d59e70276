//! A contract is checked wherever rustc can tell the values.
use graph_runtime::cuda_graph;
use ui_tests::scaled;

const LEN: usize = 1000;
const COUNT: u32 = 1024;

cuda_graph! {
    graph Test {
        device data: [f32; LEN];
        kernel double = scaled<<<COUNT / 256, 256>>>(&mut data, 2.0, COUNT);
    }
}

fn main() {}
