//! Shared memory is counted in 31 bits; what a device has is checked when the graph is built.
use graph_runtime::cuda_graph;
use ui_tests::write;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        kernel fill = write<<<1, 4, 1 << 32>>>(&mut data);
    }
}

fn main() {}
