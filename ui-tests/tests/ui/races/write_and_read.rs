//! A node that reads and one that writes the same memory are ordered.
use graph_runtime::cuda_graph;
use ui_tests::{read, write};

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        device other: [f32; 4];
        kernel fill = write<<<1, 4>>>(&mut data);
        kernel copy = read<<<1, 4>>>(&data, &mut other);
    }
}

fn main() {}
