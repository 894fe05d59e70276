//! Columns of several rows lie apart.
use graph_runtime::cuda_graph;
use ui_tests::write;

cuda_graph! {
    graph Test(n: usize, d: usize) {
        device data: [[f32; d]; n];
        kernel ones = write<<<1, 32>>>(&mut data[..][1..d]);
    }
}

fn main() {}
