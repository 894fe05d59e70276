//! A grid has at least one block.
use graph_runtime::cuda_graph;
use ui_tests::write;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        kernel fill = write<<<0, 4>>>(&mut data);
    }
}

fn main() {}
