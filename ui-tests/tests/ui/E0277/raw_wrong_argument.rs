//! A node borrows memory of the graph, or takes values that can be kept.
use graph_runtime::cuda_graph;
use std::rc::Rc;

cuda_graph! {
    graph Test {
        raw by_hand = unsafe (Rc::new(1)) |graph, after| std::ptr::null_mut();
    }
}

fn main() {}
