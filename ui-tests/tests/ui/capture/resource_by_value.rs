//! Memory is borrowed.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        capture calls = (data) |stream| ();
        memset set = data <- 1.0;
    }
}

fn main() {}
