//! The path leads to the runtime.
use graph_runtime::cuda_graph;

fn main() {
    let device = graph_runtime::Device::emulator();
    let _ = cuda_graph! {
        #![crate = facade::graph_runtime]
        &device =>
        device data: [f32; 4];
        memset fill = data <- 1.0;
    };
}
