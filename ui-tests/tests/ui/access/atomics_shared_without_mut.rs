//! Memory that is updated atomically is shared as `mut`.
use graph_runtime::cuda_graph;
use ui_tests::count;

cuda_graph! {
    graph Test(bins: device [u32; 4]) {
        kernel update = count<<<1, 4>>>(&bins);
    }
}

fn main() {}
