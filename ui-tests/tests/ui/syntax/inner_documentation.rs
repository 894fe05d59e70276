//! The documentation of a graph comes before it.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        //! A graph.
        device data: [f32; 4];
        memset zero = data <- 0.0;
    }
}

fn main() {}
