//! Nobody checks what a raw node does.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        memset set = data <- 1.0;
        raw by_hand = (&data) |graph, after| std::ptr::null_mut() after set;
    }
}

fn main() {}
