//! A plain value is no node.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test(n: f32) {
        device data: [f32; 4];
        memset clear = data <- n after n;
    }
}

fn main() {}
