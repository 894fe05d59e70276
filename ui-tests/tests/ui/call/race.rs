//! Host functions race like other nodes.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        host input: [f32; 4];
        device data: [f32; 4];
        call fill = |&mut input| input.fill(1.0);
        memcpy upload = input -> data;
    }
}

fn main() {}
