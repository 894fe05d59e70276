//! Conditions are looked at by the device, params are known to the host.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        param flag: u32 = 1;
        device data: u32;
        if maybe = flag {
            memset set = data <- 1;
        };
    }
}

fn main() {}
