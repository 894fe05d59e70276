//! Lengths that are generic have to be the same one.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test<const N: usize, const M: usize> {
        host input: [f32; N];
        device data: [f32; M];
        memcpy upload = input -> data;
    }
}

fn main() {}
