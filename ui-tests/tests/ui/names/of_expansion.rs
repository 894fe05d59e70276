//! Names that begin with two underscores are those of the expansion.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device __graph: [f32; 4];
        memset __marker = __graph <- 0.0;
    }
}

fn main() {}
