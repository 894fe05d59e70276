//! A cycle is reported once, with its shortest path, whatever else hangs on it.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        join start;
        join a after start, d;
        join b after a;
        join c after b;
        join d after b, c;
        join end after d;
    }
}

fn main() {}
