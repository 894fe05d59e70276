//! The condition is read like any memory.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device flag: u32;
        device data: u32;
        memset decide = flag <- 1;
        if maybe = flag {
            memset set = data <- 1;
        };
    }
}

fn main() {}
