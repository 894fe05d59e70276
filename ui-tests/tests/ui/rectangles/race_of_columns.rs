//! Columns 3 belong to both.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [[f32; 8]; 8];
        memset left  = data[..][..4] <- 0.0;
        memset right = data[2..5][3..] <- 1.0;
    }
}

fn main() {}
