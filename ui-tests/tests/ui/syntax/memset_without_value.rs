//! A memset says what is set and to which value.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        memset zero = data;
    }
}

fn main() {}
