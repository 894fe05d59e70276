//! A graph has a body.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test;
}

fn main() {}
