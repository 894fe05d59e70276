//! Every launch keeps the kernel's `#[requires]`.
use graph_runtime::cuda_graph;
use ui_tests::write;

cuda_graph! {
    graph Test {
        device data: [f32; 1000];
        kernel fill = write<<<4, 256>>>(&mut data);
    }
}

fn main() {}
