//! A range of columns ends with them.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [[f32; 8]; 4];
        memset clear = data[0..2][4..9] <- 0.0;
    }
}

fn main() {}
