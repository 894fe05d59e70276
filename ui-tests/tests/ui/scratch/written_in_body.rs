//! A body need not run, so it does not initialize memory for nodes after it.
use graph_runtime::cuda_graph;
use ui_tests::read;

cuda_graph! {
    graph Test {
        device flag: u32;
        scratch tmp: [f32; 4];
        device out: [f32; 4];
        if maybe = flag {
            memset fill = tmp <- 1.0;
            kernel inside = read<<<1, 4>>>(&tmp, &mut out) after fill;
        };
        kernel outside = read<<<1, 4>>>(&tmp, &mut out) after maybe;
    }
}

fn main() {}
