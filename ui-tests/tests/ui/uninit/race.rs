//! Two kernels that initialise the same memory are ordered as any others.
use graph_runtime::cuda_graph;
use ui_tests::through;

cuda_graph! {
    graph Test {
        scratch tmp: [f32; 4];
        device a: [f32; 4];
        device b: [f32; 4];
        kernel one = through<<<1, 4>>>(&mut tmp, &mut a);
        kernel two = through<<<1, 4>>>(&mut tmp, &mut b);
    }
}

fn main() {}
