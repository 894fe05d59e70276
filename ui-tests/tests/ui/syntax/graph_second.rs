//! One call declares one graph.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph First { join start; }
    graph Second { join start; }
}

fn main() {}
