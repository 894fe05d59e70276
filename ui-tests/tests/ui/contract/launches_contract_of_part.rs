//! The length in a contract is that of the part which is passed.
use graph_runtime::cuda_graph;
use ui_tests::write;

cuda_graph! {
    graph Test {
        device data: [f32; 1024];
        kernel fill = write<<<4, 256>>>(&mut data[..512]);
    }
}

fn main() {}
