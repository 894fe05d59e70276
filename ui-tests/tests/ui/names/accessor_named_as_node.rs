//! The accessors made for resources and params have names in the same namespace.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        join set_value;
        device data: [f32; 4];
        param value: f32 = 1.0;
        memset fill = data <- value after set_value;
    }
}

fn main() {}
