//! CUDA has no event nodes in conditional bodies.
use graph_runtime::{Event, cuda_graph};

cuda_graph! {
    graph Test(done: Event) {
        device flag: u32;
        memset on = flag <- 1_u32;
        if maybe = flag {
            record end = done;
        } after on;
    }
}

fn main() {}
