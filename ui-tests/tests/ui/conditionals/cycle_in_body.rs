//! Each body is a graph without cycles.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device flag: u32;
        if maybe = flag {
            join a after b;
            join b after a;
        };
    }
}

fn main() {}
