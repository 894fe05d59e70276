//! Ranges between constants have a length, too.
use graph_runtime::cuda_graph;

const MID: usize = 3;

cuda_graph! {
    graph Test {
        host input: [f32; 4];
        device data: [f32; 4];
        memcpy upload = input[..MID] -> data;
    }
}

fn main() {}
