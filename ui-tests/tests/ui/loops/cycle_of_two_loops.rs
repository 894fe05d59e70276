//! A loop runs before another or after it.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        for i in 0..4 {
            join a;
            join b after d;
        }
        for j in 0..4 {
            join c after a;
            join d;
        }
    }
}

fn main() {}
