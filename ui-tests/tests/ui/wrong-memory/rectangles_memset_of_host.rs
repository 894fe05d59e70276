//! CUDA sets device memory.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        host data: [[f32; 8]; 8];
        memset clear = data[..][1..3] <- 0.0;
    }
}

fn main() {}
