//! Nodes are added once; params change.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        param rate: f32 = 0.5;
        device data: [f32; 4];
        memset set = data <- rate;
        raw by_hand = unsafe () |graph, after| if rate > 0.0 { after[0] } else { std::ptr::null_mut() } after set;
    }
}

fn main() {}
