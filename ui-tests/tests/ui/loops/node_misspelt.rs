//! Names in a `for` are those of the graph.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: f32;
        for i in 0..4 {
            memset first = data <- 1.0;
            memset second = data <- 2.0 after frist;
        }
    }
}

fn main() {}
