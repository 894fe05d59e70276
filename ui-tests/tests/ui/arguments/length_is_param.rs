//! Memory is allocated when the graph is built, so no `param` is a length.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        param n: usize = 4;
        device data: [f32; n];
        memset clear = data <- n as f32;
    }
}

fn main() {}
