//! Each cycle is one mistake.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        join a after b;
        join b after a;
        join c after a, d;
        join d after c;
    }
}

fn main() {}
