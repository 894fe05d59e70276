//! Kernels that are values are part of the language, but not of this version.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        kernel fill = unsafe (loaded)<<<1, 4>>>(&mut data);
    }
}

fn main() {}
