//! A kernel is launched with dimensions.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        kernel fill = write(&mut data);
    }
}

fn main() {}
