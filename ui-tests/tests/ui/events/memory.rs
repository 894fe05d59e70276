//! An event is no memory.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        host flag: u32;
        record done = flag;
        call use_it = |&flag| assert_eq!(*flag, 0);
    }
}

fn main() {}
