//! A copy of a variable that a kernel writes runs after or before it.
use graph_runtime::cuda_graph;
use ui_tests::count_up;

cuda_graph! {
    graph Test {
        host     seen:   [u32; 2];
        constant totals: [u32; 2] = "totals";
        kernel count = count_up<<<1, 2>>>();
        memcpy look  = totals -> seen;
    }
}

fn main() {}
