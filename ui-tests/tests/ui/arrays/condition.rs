//! A condition is a number at an address.
use graph_runtime::cuda_graph;
use ui_tests::*;

cuda_graph! {
    graph Test {
        array more: u32;
        device out: [f32; 8];
        array volume: [[[f32; 8]; 8]; 2];
        if some = more {
            kernel view = look_into<<<1, 8>>>(&volume, &mut out);
        };
    }
}

fn main() {}
