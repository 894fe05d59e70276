//! The brackets of a launch are CUDA's.
use graph_runtime::cuda_graph;
use ui_tests::write;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        kernel fill = write<1, 4>(&mut data);
    }
}

fn main() {}
