//! Memory belongs to the whole graph.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device flag: u32;
        if maybe = flag {
            device data: u32;
            memset set = data <- 1;
        };
    }
}

fn main() {}
