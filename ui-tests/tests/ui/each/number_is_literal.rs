//! An iteration is named by its distance, not by its number.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        each i in 0..4 {
            memset fill = data[i] <- 0.0;
        }
        memset last = data[3] <- 1.0 after fill(3);
    }
}

fn main() {}
