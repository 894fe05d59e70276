//! Nobody knows what nodes a `raw` node adds, so it is in no conditional body.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device flag: u32;
        memset on = flag <- 1_u32;
        if maybe = flag {
            raw by_hand = unsafe () |graph, after| std::ptr::null_mut();
        } after on;
    }
}

fn main() {}
