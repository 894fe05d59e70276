//! A kernel compiled with a required block has that block and no other.
use graph_runtime::cuda_graph;
use ui_tests::required;

cuda_graph! {
    graph Test {
        device data: [f32; 64];
        kernel fill = required<<<2, 32>>>(&mut data);
    }
}

fn main() {}
