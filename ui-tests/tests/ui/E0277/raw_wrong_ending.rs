//! The closure returns the node that others come after.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        raw by_hand = unsafe () |graph, after| graph.graph();
    }
}

fn main() {}
