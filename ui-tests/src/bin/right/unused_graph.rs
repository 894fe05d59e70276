//! A graph that nobody uses is no warning: its type may be for others.
#![deny(warnings)]
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test<const N: usize> {
        host input: [f32; N];
        device data: [f32; N];
        param level: f32 = 0.0;
        memcpy upload = input -> data;
        memset fill = data <- level after upload;
    }
}
