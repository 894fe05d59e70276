//! A literal length of a table is checked at compile time.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test(d: usize) {
        device data: [[f32; d]; 4];
        memset clear = data[4] <- 0.0;
    }
}

fn main() {}
