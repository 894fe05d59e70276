//! A node declares what it touches by name.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        capture calls = (&mut dta) |stream| ();
        memset set = data <- 1.0;
    }
}

fn main() {}
