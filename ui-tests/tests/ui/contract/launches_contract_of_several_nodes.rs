//! Nodes that launch a kernel in the same way break its contract once.
use graph_runtime::cuda_graph;
use ui_tests::write;

cuda_graph! {
    graph Test {
        device data: [f32; 1000];
        kernel first = write<<<4, 256>>>(&mut data);
        kernel second = write<<<4, 256>>>(&mut data) after first;
    }
}

fn main() {}
