//! Nothing runs between two iterations.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        for i in 0..4 {
            join first;
            join second after between;
        }
        join between after first;
    }
}

fn main() {}
