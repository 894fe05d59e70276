//! `#[allow]` says which rule.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        #[allow]
        join start;
    }
}

fn main() {}
