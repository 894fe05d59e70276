//! Only arrays have three dimensions of texels.
use graph_runtime::cuda_graph;
use ui_tests::*;

cuda_graph! {
    graph Test {
        device volume: [[[f32; 8]; 8]; 8];
        device out: [f32; 8];
        kernel view = look_into<<<1, 8>>>(&volume, &mut out);
    }
}

fn main() {}
