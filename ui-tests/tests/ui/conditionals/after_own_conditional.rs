//! A node of a body runs while its conditional does.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device flag: u32;
        device data: u32;
        if maybe = flag {
            memset set = data <- 1 after maybe;
        };
    }
}

fn main() {}
