//! A `param` has a type.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        param value = 1.0;
        memset fill = data <- value;
    }
}

fn main() {}
