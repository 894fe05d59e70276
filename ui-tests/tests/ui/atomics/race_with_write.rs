//! Atomic updates race with plain writes, as reads do.
use graph_runtime::cuda_graph;
use ui_tests::count;

cuda_graph! {
    graph Test {
        device bins: [u32; 4];
        memset clear = bins <- 0;
        kernel update = count<<<1, 4>>>(&bins);
    }
}

fn main() {}
