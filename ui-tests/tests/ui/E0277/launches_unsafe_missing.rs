//! A kernel that is not declared `safe` is launched with `unsafe`.
use graph_runtime::cuda_graph;
use ui_tests::indirect;

cuda_graph! {
    graph Test {
        device table: [u64; 4];
        kernel fill = indirect<<<1, 4>>>(&mut table);
    }
}

fn main() {}
