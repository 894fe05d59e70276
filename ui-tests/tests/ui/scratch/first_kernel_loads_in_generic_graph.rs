//! The same in a generic graph, at `cargo check`.
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
