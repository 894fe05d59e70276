//! Every statement has a name.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device : [f32; 4];
    }
}

fn main() {}
