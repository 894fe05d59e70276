//! A constant in a tuple is an integer.
use graph_runtime::cuda_graph;
use ui_tests::write;

const THREADS: &str = "64";

cuda_graph! {
    graph Test {
        device data: [f32; 2048];
        kernel fill = write<<<1, (THREADS, 1)>>>(&mut data);
    }
}

fn main() {}
