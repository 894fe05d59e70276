//! `in` and a range follow the variable.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        each i 0..4 {
            memset fill = data[i] <- 0.0;
        }
    }
}

fn main() {}
