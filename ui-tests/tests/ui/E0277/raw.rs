//! Mistakes in raw nodes.
use graph_runtime::cuda_graph;
use std::rc::Rc;

// The closure returns the node that others come after.
cuda_graph! {
    graph NoNode {
        raw by_hand = unsafe () |graph, after| {
            assert!(after.is_empty());
        };
    }
}

// A node borrows memory of the graph, or takes values that can be kept.
cuda_graph! {
    graph WrongArgument {
        raw by_hand = unsafe (Rc::new(1)) |graph, after| std::ptr::null_mut();
    }
}

// The closure returns the node that others come after.
cuda_graph! {
    graph WrongEnding {
        raw by_hand = unsafe () |graph, after| graph.graph();
    }
}

fn main() {}
