//! A first `&mut` counts as a write, unless the PTX loads through it: `scaled` multiplies what is there.
use graph_runtime::cuda_graph;
use ui_tests::scaled;

cuda_graph! {
    graph Test {
        scratch tmp: [f32; 4];
        device out: [f32; 4];
        kernel double = scaled<<<1, 4>>>(&mut tmp, 2.0, 4);
        memcpy keep = tmp -> out after double;
    }
}

fn main() {}
