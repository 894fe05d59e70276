//! rustc itself reports a wrong argument in a body.
use graph_runtime::cuda_graph;
use ui_tests::read;

cuda_graph! {
    graph Test {
        device flag: u32;
        device data: [f32; 4];
        if maybe = flag {
            kernel copy = read<<<1, 4>>>(&data, &data);
        };
    }
}

fn main() {}
