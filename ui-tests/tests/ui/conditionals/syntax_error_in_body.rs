//! One mistake in a body is one message: nobody knows what the broken node would have written.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device flag: u32;
        device data: u32;
        while repeat = flag {
            memset stop = flag <= 0;
            memset set = data <- 1 after stop;
        };
        memset clear = data <- 0 after repeat;
    }
}

fn main() {}
