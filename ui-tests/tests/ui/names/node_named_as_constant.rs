//! `PLAN` is a constant of every graph.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        join PLAN;
    }
}

fn main() {}
