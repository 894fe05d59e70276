//! A place is in a declared resource.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        memset zero = data <- 0.0;
    }
}

fn main() {}
