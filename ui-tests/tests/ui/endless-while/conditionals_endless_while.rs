//! Something in the body must end the loop.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device flag: u32;
        device data: u32;
        memset start = flag <- 1;
        while repeat = flag {
            memset set = data <- 1;
        } after start;
    }
}

fn main() {}
