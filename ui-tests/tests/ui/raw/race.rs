//! Raw nodes race by what they declare.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        memset set = data <- 1.0;
        raw by_hand = unsafe (&data) |graph, after| std::ptr::null_mut();
    }
}

fn main() {}
