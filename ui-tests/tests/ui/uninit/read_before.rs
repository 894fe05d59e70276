//! Memory is initialised by a kernel for the nodes after it.
use graph_runtime::cuda_graph;
use ui_tests::{read, through};

cuda_graph! {
    graph Test {
        scratch tmp: [f32; 4];
        device out: [f32; 4];
        kernel early = read<<<1, 4>>>(&tmp, &mut out);
        kernel late = through<<<1, 4>>>(&mut tmp, &mut out) after early;
    }
}

fn main() {}
