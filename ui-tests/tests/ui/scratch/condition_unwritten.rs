//! A condition is read like everything else.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        scratch flag: u32;
        device data: [f32; 4];
        if maybe = flag {
            memset set = data <- 1.0;
        };
    }
}

fn main() {}
