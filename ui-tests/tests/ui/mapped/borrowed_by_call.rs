//! A host function gets references, which nothing may write meanwhile.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        mapped news: [u32; 4];
        call look = |&news| drop(news);
    }
}

fn main() {}
