//! A grid has at most 65,535 blocks along y and z.
use graph_runtime::cuda_graph;
use ui_tests::tile;

cuda_graph! {
    graph Test {
        device data: [[f32; 16]; 16];
        kernel fill = tile<<<(1, 70_000), (16, 16)>>>(&mut data);
    }
}

fn main() {}
