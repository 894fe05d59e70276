//! Lengths that are constants are compared by rustc.
use graph_runtime::cuda_graph;

const SMALL: usize = 4;
const LARGE: usize = 8;

cuda_graph! {
    graph Test {
        host input: [f32; SMALL];
        device data: [f32; LARGE];
        memcpy upload = input -> data;
    }
}

fn main() {}
