//! A kernel's elements are those of the table.
use graph_runtime::cuda_graph;
use ui_tests::write;

cuda_graph! {
    graph Test(n: usize, d: usize) {
        device data: [[u32; d]; n];
        kernel ones = write<<<1, 32>>>(&mut data);
    }
}

fn main() {}
