//! A row has all columns.
use graph_runtime::cuda_graph;
use ui_tests::*;

cuda_graph! {
    graph Test {
        device data: [[f32; 8]; 8];
        memset column = data[..][7] <- 0.0;
        kernel row    = write<<<1, 8>>>(&mut data[7]);
    }
}

fn main() {}
