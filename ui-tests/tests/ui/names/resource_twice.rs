//! A name is declared once.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        host data: [f32; 4];
        device data: [f32; 4];
        memcpy upload = data -> data;
    }
}

fn main() {}
