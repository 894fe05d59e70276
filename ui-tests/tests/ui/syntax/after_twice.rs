//! A node has one `after`.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        join a;
        join b;
        join c after a after b;
    }
}

fn main() {}
