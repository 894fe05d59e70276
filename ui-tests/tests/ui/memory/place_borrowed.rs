//! A memcpy names its sides without `&`.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        host input: [f32; 4];
        device data: [f32; 4];
        memcpy upload = &input -> &mut data;
    }
}

fn main() {}
