//! A `for` counts over a range.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: f32;
        for i in {
            memset set = data <- 1.0;
        }
    }
}

fn main() {}
