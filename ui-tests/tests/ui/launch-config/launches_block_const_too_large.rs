//! Constants are as good as literals.
use graph_runtime::cuda_graph;
use ui_tests::write;

const THREADS: u32 = 2048;

cuda_graph! {
    graph Test {
        device data: [f32; 2048];
        kernel fill = write<<<1, THREADS>>>(&mut data);
    }
}

fn main() {}
