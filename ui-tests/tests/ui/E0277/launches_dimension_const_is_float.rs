//! A constant that is a dimension is an integer.
use graph_runtime::cuda_graph;
use ui_tests::write;

const THREADS: f32 = 64.0;

cuda_graph! {
    graph Test {
        device data: [f32; 2048];
        kernel fill = write<<<1, THREADS>>>(&mut data);
    }
}

fn main() {}
