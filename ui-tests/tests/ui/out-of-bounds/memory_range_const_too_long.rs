//! Constants are as good as literals.
use graph_runtime::cuda_graph;

const LEN: usize = 8;

cuda_graph! {
    graph Test {
        device data: [f32; LEN];
        memset zero = data[4..LEN + 1] <- 0.0;
    }
}

fn main() {}
