//! A `param` has an initial value.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        param value: f32;
        memset fill = data <- value;
    }
}

fn main() {}
