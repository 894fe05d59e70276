//! Elements of a vector have no columns: an index after a range.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 8];
        memset clear = data[1..3][2] <- 0.0;
    }
}

fn main() {}
