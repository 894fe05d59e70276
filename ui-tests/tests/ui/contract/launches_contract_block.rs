//! A contract may be about the launch alone.
use graph_runtime::cuda_graph;
use ui_tests::tile;

cuda_graph! {
    graph Test {
        device data: [[f32; 16]; 16];
        kernel fill = tile<<<1, (32, 8)>>>(&mut data);
    }
}

fn main() {}
