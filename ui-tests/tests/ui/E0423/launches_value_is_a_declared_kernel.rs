//! A declared kernel is launched by its path, without parentheses.
use graph_runtime::cuda_graph;
use ui_tests::indirect;

cuda_graph! {
    graph Test {
        device data: [u64; 64];
        kernel fill = unsafe (indirect)<<<1, 64>>>(&mut data);
    }
}

fn main() {}
