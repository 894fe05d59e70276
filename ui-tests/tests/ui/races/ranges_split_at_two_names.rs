//! Ranges are disjoint if they split at the same name: two names may have one value.
use graph_runtime::cuda_graph;

const LOW: usize = 4;
const HIGH: usize = 4;

cuda_graph! {
    graph Test {
        device data: [f32; 8];
        memset low = data[..LOW] <- 0.0;
        memset high = data[HIGH..] <- 1.0;
    }
}

fn main() {}
