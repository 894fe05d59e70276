//! A condition is memory, not an expression.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device count: u32;
        device data: u32;
        while repeat = count > 0 {
            memset set = data <- 1;
        };
    }
}

fn main() {}
