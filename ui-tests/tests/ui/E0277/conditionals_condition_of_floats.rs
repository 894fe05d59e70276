//! A condition is a number of 32 bits.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device flag: f32;
        device data: u32;
        if maybe = flag {
            memset set = data <- 1;
        };
    }
}

fn main() {}
