//! A closure has the memory that its node declares, and no other.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device input: [f32; 4];
        device output: [f32; 4];
        capture calls = (&mut output) |stream| assert_eq!(output.bytes(), 16);
        capture others = () |stream| drop(input.bytes()) after calls;
        memset set = input <- 1.0;
    }
}

fn main() {}
