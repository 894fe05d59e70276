//! Kernels take device memory.
use graph_runtime::cuda_graph;
use ui_tests::write;

cuda_graph! {
    graph Test {
        host output: [f32; 4];
        kernel fill = write<<<1, 4>>>(&mut output);
    }
}

fn main() {}
