//! A param with the name of a const generic.
#![allow(non_upper_case_globals)]
use graph_runtime::cuda_graph;
use ui_tests::scaled;

cuda_graph! {
    graph Test<const n: usize> {
        device data: [f32; 4];
        param n: u32 = 4;
        kernel scale = scaled<<<1, 4>>>(&mut data, 2.0, n);
    }
}

fn main() {}
