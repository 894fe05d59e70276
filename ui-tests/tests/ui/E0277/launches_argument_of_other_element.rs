//! Memory has the parameter's element type.
use graph_runtime::cuda_graph;
use ui_tests::write;

cuda_graph! {
    graph Test {
        device data: [f64; 4];
        kernel fill = write<<<1, 4>>>(&mut data);
    }
}

fn main() {}
