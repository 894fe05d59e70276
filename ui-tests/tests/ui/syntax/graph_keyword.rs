//! A graph is declared with `graph`.
use graph_runtime::cuda_graph;

cuda_graph! {
    pub struct Test {
        join start;
    }
}

fn main() {}
