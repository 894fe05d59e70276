//! A graph that is generic over what its memory holds says so.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test<T> {
        #[allow(unused_resource)]
        device data: [T; 4];
    }
}

fn main() {}
