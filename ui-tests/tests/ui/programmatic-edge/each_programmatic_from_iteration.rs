//! A kernel that starts before the one of the previous iteration has ended, and does not wait for it.
use graph_runtime::cuda_graph;
use ui_tests::*;

cuda_graph! {
    graph Test {
        device a: [[f32; 1024]; 5];
        each i in 0..4 {
            kernel next = read<<<4, 256>>>(&a[i], &mut a[i + 1]) after programmatic(next(i - 1));
        }
    }
}

fn main() {}
