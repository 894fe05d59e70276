//! All bodies share one namespace with the graph.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device flag: u32;
        device data: u32;
        if maybe = flag {
            memset set = data <- 1;
        } else {
            memset set = data <- 2;
        };
    }
}

fn main() {}
