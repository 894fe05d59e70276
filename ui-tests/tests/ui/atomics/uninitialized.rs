//! Atomic updates start from what was there.
use graph_runtime::cuda_graph;
use ui_tests::count;

cuda_graph! {
    graph Test {
        scratch bins: [u32; 4];
        host counts: [u32; 4];
        kernel update = count<<<1, 4>>>(&bins);
        memcpy down = bins -> counts after update;
    }
}

fn main() {}
