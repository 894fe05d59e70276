//! One iteration is named twice.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        each i in 0..4 {
            memset fill = data[i] <- 0.0 after fill(i - 1), fill(i - 1);
        }
    }
}

fn main() {}
