//! A conditional ends with a semicolon, like every statement.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device flag: u32;
        device data: u32;
        if maybe = flag {
            memset set = data <- 1;
        }
        memset reset = data <- 0 after maybe;
    }
}

fn main() {}
