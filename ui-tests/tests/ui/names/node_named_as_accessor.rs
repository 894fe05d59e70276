//! The accessors made for resources and params have names in the same namespace.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        memset data_mut = data <- 0.0;
    }
}

fn main() {}
