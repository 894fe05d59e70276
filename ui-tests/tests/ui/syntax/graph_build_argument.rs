//! Build arguments are part of the language, but not of this version.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test(n: usize) {
        join start;
    }
}

fn main() {}
