//! A write that nothing orders before the read is a race, told once.
use graph_runtime::cuda_graph;
use ui_tests::read;

cuda_graph! {
    graph Test {
        scratch tmp: [f32; 4];
        device out: [f32; 4];
        join start;
        memset fill = tmp <- 1.0 after start;
        kernel use_it = read<<<1, 4>>>(&tmp, &mut out) after start;
    }
}

fn main() {}
