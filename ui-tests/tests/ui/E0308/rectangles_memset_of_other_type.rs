//! Columns have the elements of their memory.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [[f32; 8]; 8];
        memset clear = data[..][1..3] <- 0_u32;
    }
}

fn main() {}
