//! So do conditions.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device flags: [[u32; 8]; 8];
        device data:  [f32; 8];
        if maybe = flags[..][1] {
            memset clear = data <- 0.0;
        };
    }
}

fn main() {}
