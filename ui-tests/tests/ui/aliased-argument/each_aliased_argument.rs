//! Two arguments of one node meet in one iteration.
use graph_runtime::cuda_graph;
use ui_tests::*;

cuda_graph! {
    graph Test {
        device data: [[f32; 64]; 8];
        each i in 0..4 {
            kernel next = chained<<<1, 64>>>(&data[2 * i], &mut data[i]);
        }
    }
}

fn main() {}
