//! A condition is read by the device.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        host flag: u32;
        device data: u32;
        if maybe = flag {
            memset set = data <- 1;
        };
    }
}

fn main() {}
