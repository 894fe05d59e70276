//! Only an array has parts.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device flag: u32;
        memset zero = flag[0] <- 0;
    }
}

fn main() {}
