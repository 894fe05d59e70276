//! A node after a conditional waits for all of it.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device flag: u32;
        device data: u32;
        if maybe = flag {
            memset set = data <- 1;
        };
        memset clear = data <- 0 after set;
    }
}

fn main() {}
