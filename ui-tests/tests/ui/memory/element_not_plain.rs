//! Memory holds plain data: types that are `Pod`.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        #[allow(unused_resource)]
        device names: [String; 4];
    }
}

fn main() {}
