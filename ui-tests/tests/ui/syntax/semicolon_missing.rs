//! Every statement ends with `;`.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4]
        memset zero = data <- 0.0;
    }
}

fn main() {}
