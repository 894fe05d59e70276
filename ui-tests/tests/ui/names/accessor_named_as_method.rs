//! No accessor has the name of a method of every graph.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        host memory: [f32; 4];
        device data: [f32; 4];
        memcpy upload = memory -> data;
    }
}

fn main() {}
