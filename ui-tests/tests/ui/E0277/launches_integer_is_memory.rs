//! An integer is passed by value, not as memory.
use graph_runtime::cuda_graph;
use ui_tests::scaled;

cuda_graph! {
    graph Test {
        device data: [f32; 64];
        device count: u32;
        kernel double = scaled<<<1, 64>>>(&mut data, 2.0, &count);
    }
}

fn main() {}
