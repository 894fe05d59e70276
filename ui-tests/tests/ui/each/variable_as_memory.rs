//! The variable is a number.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        each i in 0..4 {
            memset fill = i <- 0.0;
        }
    }
}

fn main() {}
