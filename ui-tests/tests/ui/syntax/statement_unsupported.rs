//! Statements of the language that this version does not build say so.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        rng random = 7, draws 4;
    }
}

fn main() {}
