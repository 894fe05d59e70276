//! A memset sets device memory.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        host output: [f32; 4];
        memset zero = output <- 0.0;
    }
}

fn main() {}
