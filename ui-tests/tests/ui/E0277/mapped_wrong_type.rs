//! The elements are words, whatever their type is called.
use graph_runtime::cuda_graph;

type Small = u8;

cuda_graph! {
    graph Test {
        #[allow(unused_resource)]
        mapped news: [Small; 4];
    }
}

fn main() {}
