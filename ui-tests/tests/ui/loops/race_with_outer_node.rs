//! A node outside runs beside the first or the last iteration, unless it is ordered with them.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        memset clear = data <- 0.0;
        for i in 0..4 {
            memset set = data[i] <- 1.0;
        }
    }
}

fn main() {}
