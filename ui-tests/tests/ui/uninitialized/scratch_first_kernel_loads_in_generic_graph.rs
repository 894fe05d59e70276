//! The first kernel of scratch memory loads from it, in a generic graph; `cargo check` reports it.
use graph_runtime::cuda_graph;
use ui_tests::scaled;

cuda_graph! {
    graph Test<const N: usize> {
        scratch tmp: [f32; N];
        device out: [f32; N];
        kernel double = scaled<<<1, 4>>>(&mut tmp, 2.0, 4);
        memcpy keep = tmp -> out after double;
    }
}

fn main() {}
