//! Statements of the language that this version does not build say so.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        scratch data: [f32; 4];
        memset zero = data <- 0.0;
    }
}

fn main() {}
