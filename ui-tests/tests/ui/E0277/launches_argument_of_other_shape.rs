//! A parameter of a fixed shape takes no other.
use graph_runtime::cuda_graph;
use ui_tests::tile;

cuda_graph! {
    graph Test {
        device data: [[f32; 16]; 8];
        kernel fill = tile<<<1, (16, 8)>>>(&mut data);
    }
}

fn main() {}
