//! Two nodes wait for each other's iterations.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [[f32; 4]; 2];
        each i in 0..4 {
            memset a = data[0][i] <- 0.0 after b(i - 1);
            memset b = data[1][i] <- 0.0 after a(i + 1);
        }
    }
}

fn main() {}
