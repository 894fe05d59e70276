//! A graph that takes values of several types is generic.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test(n: impl Into<u32>) {
        device data: [u32; 4];
        memset set = data <- n.into();
    }
}

fn main() {}
