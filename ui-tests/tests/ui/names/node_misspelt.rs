//! `after` names nodes.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        host input: [f32; 4];
        device data: [f32; 4];
        memcpy upload = input -> data;
        memset zero = data <- 0.0 after uplaod;
    }
}

fn main() {}
