//! A condition stands before the braces.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: u32;
        if maybe = {
            memset set = data <- 1;
        };
    }
}

fn main() {}
