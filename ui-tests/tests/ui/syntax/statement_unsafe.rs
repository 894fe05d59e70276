//! `unsafe` stands before the kernel, not before the statement.
use graph_runtime::cuda_graph;
use ui_tests::indirect;

cuda_graph! {
    graph Test {
        device data: [u64; 4];
        unsafe kernel fill = indirect<<<1, 4>>>(&mut data);
        memset zero = data <- 0 after fill;
    }
}

fn main() {}
