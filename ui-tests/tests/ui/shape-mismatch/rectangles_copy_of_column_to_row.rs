//! A column and a row have one shape, other columns another.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        host   input: [[f32; 8]; 8];
        device data:  [[f32; 8]; 8];
        memcpy right = input[..][0] -> data[3][..];
        memcpy wrong = input[..][0..1] -> data[4] after right;
    }
}

fn main() {}
