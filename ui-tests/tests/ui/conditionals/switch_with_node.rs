//! A `switch` holds bodies, not nodes.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device number: u32;
        device data: u32;
        switch pick = number {
            memset set = data <- 1;
        };
    }
}

fn main() {}
