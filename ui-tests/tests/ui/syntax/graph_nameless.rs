//! A graph has a name.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph {
        join start;
    }
}

fn main() {}
