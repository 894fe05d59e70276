//! Grid and block are two mistakes.
use graph_runtime::cuda_graph;
use ui_tests::write;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        kernel fill = write<<<0, 2048>>>(&mut data);
    }
}

fn main() {}
