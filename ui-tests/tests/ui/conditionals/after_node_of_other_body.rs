//! At most one of two bodies runs.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device flag: u32;
        device data: u32;
        if maybe = flag {
            memset one = data <- 1;
        } else {
            memset two = data <- 2 after one;
        };
    }
}

fn main() {}
