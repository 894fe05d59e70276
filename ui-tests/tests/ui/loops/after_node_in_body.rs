//! A body in a `for` is a body: `after` names nodes beside it.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device flag: u32;
        device data: [f32; 4];
        for i in 0..4 {
            if maybe = flag {
                memset inside = data[i] <- 1.0;
            };
            memset outside = data[i] <- 2.0 after inside;
        }
    }
}

fn main() {}
