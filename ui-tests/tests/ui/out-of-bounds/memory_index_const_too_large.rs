//! Constants are as good as literals.
use graph_runtime::cuda_graph;

const LAST: usize = 8;

cuda_graph! {
    graph Test {
        device data: [[f32; 4]; 8];
        memset zero = data[LAST] <- 0.0;
    }
}

fn main() {}
