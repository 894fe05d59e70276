//! Mistakes with memory.
use graph_runtime::cuda_graph;

// Constants are as good as literals.
const LAST: usize = 8;

cuda_graph! {
    graph IndexConstTooLarge {
        device data: [[f32; 4]; 8];
        memset zero = data[LAST] <- 0.0;
    }
}

// Constants are as good as literals.
const LEN: usize = 8;

cuda_graph! {
    graph RangeConstTooLong {
        device data: [f32; LEN];
        memset zero = data[4..LEN + 1] <- 0.0;
    }
}

fn main() {}
