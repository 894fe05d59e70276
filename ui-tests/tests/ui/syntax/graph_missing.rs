//! A call of `cuda_graph!` declares a graph.
use graph_runtime::cuda_graph;

cuda_graph! {}

fn main() {}
