//! Scratch memory that no node writes holds nothing; the second reader is not told again.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        scratch tmp: [f32; 4];
        host first: [f32; 4];
        host second: [f32; 4];
        memcpy one = tmp -> first;
        memcpy two = tmp -> second after one;
    }
}

fn main() {}
