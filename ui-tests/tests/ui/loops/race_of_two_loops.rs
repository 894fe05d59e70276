//! Loops are ordered by their nodes, as all else is; the variables of two loops are two numbers.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        for i in 0..4 {
            memset low = data[..i] <- 1.0;
        }
        for i in 0..4 {
            memset high = data[i..] <- 1.0;
        }
    }
}

fn main() {}
