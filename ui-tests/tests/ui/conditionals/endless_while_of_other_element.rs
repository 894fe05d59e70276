//! The body must write the very number that is the condition.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device flags: [u32; 2];
        while repeat = flags[0] {
            memset stop = flags[1] <- 0;
        };
    }
}

fn main() {}
