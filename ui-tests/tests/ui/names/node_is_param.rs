//! `after` names nodes.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        param value: f32 = 1.0;
        memset fill = data <- value;
        join end after value;
    }
}

fn main() {}
