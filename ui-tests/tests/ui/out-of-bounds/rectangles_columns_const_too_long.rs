//! Columns out of bounds, which only rustc knows.
use graph_runtime::cuda_graph;

const END: usize = 9;

cuda_graph! {
    graph Test {
        device data: [[f32; 8]; 4];
        memset clear = data[0..2][4..END] <- 0.0;
    }
}

fn main() {}
