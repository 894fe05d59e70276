//! Another `if` is a node of the `else`.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device flags: [u32; 2];
        device data: u32;
        if first = flags[0] {
            memset one = data <- 1;
        } else if second = flags[1] {
            memset two = data <- 2;
        };
    }
}

fn main() {}
