//! An iteration is named by its distance.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        each i in 0..4 {
            memset fill = data[i] <- 0.0 after fill(2 * i);
        }
    }
}

fn main() {}
