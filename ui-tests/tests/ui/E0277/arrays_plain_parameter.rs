//! A kernel that takes an address cannot take an array.
use graph_runtime::cuda_graph;
use ui_tests::*;

cuda_graph! {
    graph Test {
        array data: [f32; 64];
        kernel fill = write<<<1, 64>>>(&mut data);
    }
}

fn main() {}
