//! A body waits as a whole for what is around it.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device flag: u32;
        device data: u32;
        memset clear = data <- 0;
        if maybe = flag {
            memset set = data <- 1 after clear;
        };
    }
}

fn main() {}
