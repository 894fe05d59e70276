//! CUDA calls no host functions in conditional bodies.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device flag: u32;
        host count: u32;
        memset on = flag <- 1_u32;
        if maybe = flag {
            call tick = |&mut count| *count += 1;
        } after on;
    }
}

fn main() {}
