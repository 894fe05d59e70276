//! `else` belongs to an `if`.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device flag: u32;
        device data: u32;
        while repeat = flag {
            memset stop = flag <- 0;
        } else {
            memset set = data <- 1;
        };
    }
}

fn main() {}
