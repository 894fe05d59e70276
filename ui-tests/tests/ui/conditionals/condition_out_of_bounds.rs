//! A condition lies in its memory.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device flags: [u32; 4];
        device data: u32;
        if maybe = flags[4] {
            memset set = data <- 1;
        };
    }
}

fn main() {}
