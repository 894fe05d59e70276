//! Programmatic edges between iterations join kernels, too.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device a: [[f32; 1024]; 5];
        each i in 0..4 {
            memset clear = a[i] <- 0.0 after programmatic(clear(i - 1));
        }
    }
}

fn main() {}
