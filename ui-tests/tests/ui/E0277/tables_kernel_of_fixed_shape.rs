//! A parameter of fixed lengths takes no table.
use graph_runtime::cuda_graph;
use ui_tests::tile;

cuda_graph! {
    graph Test(n: usize, d: usize) {
        device data: [[f32; d]; n];
        kernel ones = tile<<<1, (16, 16)>>>(&mut data);
    }
}

fn main() {}
