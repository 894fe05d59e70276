//! Documentation and `#[allow(rule)]` are the only attributes of a graph and of its statements.
use graph_runtime::cuda_graph;

cuda_graph! {
    #[derive(Debug)]
    graph Test {
        join start;
    }
}

fn main() {}
