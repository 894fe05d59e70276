//! Only warnings can be silenced.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        #[allow(race)]
        join start;
    }
}

fn main() {}
