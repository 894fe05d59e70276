//! Nodes have an `after`, an `each` has none.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        join start;
        each i in 0..4 {
            memset fill = data[i] <- 0.0;
        } after start;
    }
}

fn main() {}
