//! A programmatic edge joins nodes of one iteration.
use graph_runtime::cuda_graph;
use ui_tests::*;

cuda_graph! {
    graph Test {
        device a: [[f32; 64]; 5];
        each i in 0..4 {
            kernel next = chained<<<1, 64>>>(&a[i], &mut a[i + 1]) after programmatic(next(i - 1));
        }
    }
}

fn main() {}
