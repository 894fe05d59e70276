//! A block has at most 1,024 threads, along all axes together.
use graph_runtime::cuda_graph;
use ui_tests::write;

cuda_graph! {
    graph Test {
        device data: [f32; 2048];
        kernel fill = write<<<1, (64, 32)>>>(&mut data);
    }
}

fn main() {}
