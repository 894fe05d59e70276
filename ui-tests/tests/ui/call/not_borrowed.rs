//! A host function has the memory that it borrows, and no other.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        host input: [f32; 4];
        host output: [f32; 4];
        call copy = |&mut output| *output = *input;
        call read = |&input| assert!(input[0] >= 0.0);
    }
}

fn main() {}
