//! A value that is launched is a `CudaFunction`, or a reference to one.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test(name: &'static str) {
        device data: [f32; 64];
        kernel fill = unsafe (name)<<<1, 64>>>(&mut data);
    }
}

fn main() {}
