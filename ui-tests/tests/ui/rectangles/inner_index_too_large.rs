//! The second index is one of a row.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device flags: [[u32; 8]; 4];
        device data:  [f32; 8];
        if maybe = flags[3][8] {
            memset clear = data <- 0.0;
        };
    }
}

fn main() {}
