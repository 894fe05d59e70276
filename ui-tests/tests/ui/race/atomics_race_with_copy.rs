//! Atomic updates race with copies.
use graph_runtime::cuda_graph;
use ui_tests::count;

cuda_graph! {
    graph Test {
        device bins: [u32; 4];
        host counts: [u32; 4];
        memset clear = bins <- 0;
        kernel update = count<<<1, 4>>>(&bins) after clear;
        memcpy down = bins -> counts after clear;
    }
}

fn main() {}
