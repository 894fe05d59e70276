//! Memory holds plain data: types of which any bits are a value.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        #[allow(unused_resource)]
        device flags: [bool; 4];
    }
}

fn main() {}
