//! Bodies of two conditionals are as unordered as these.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device flag: u32;
        device data: u32;
        if first = flag {
            memset one = data <- 1;
        };
        if second = flag {
            if third = flag {
                memset two = data <- 2;
            };
        };
    }
}

fn main() {}
