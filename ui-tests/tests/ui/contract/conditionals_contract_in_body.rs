//! Contracts hold wherever a kernel is launched.
use graph_runtime::cuda_graph;
use ui_tests::write;

cuda_graph! {
    graph Test {
        device flag: u32;
        device data: [f32; 4];
        if maybe = flag {
            kernel set = write<<<1, 8>>>(&mut data);
        };
    }
}

fn main() {}
