//! A memset says what is set and to which value.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        memset zero;
    }
}

fn main() {}
