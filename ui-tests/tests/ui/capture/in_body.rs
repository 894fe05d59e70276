//! CUDA runs no captured calls in conditional bodies.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device flag: u32;
        device data: [f32; 4];
        memset on = flag <- 1_u32;
        if maybe = flag {
            capture calls = (&mut data) |stream| ();
        } after on;
    }
}

fn main() {}
