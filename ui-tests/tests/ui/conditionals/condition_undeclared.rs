//! The memory of a condition must be declared.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device flag: u32;
        device data: u32;
        while repeat = flags {
            memset set = data <- 1;
            memset stop = flag <- 0;
        };
    }
}

fn main() {}
