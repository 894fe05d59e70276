//! An iteration adds all of its nodes.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        for i in 0..4 {
            memset set = data[i] <- if i == 2 { continue } else { 1.0 };
        }
    }
}

fn main() {}
