//! A write of one part is none of another.
use graph_runtime::cuda_graph;
use ui_tests::read;

cuda_graph! {
    graph Test {
        scratch tmp: [f32; 8];
        device out: [f32; 4];
        memset fill = tmp[..4] <- 1.0;
        kernel use_it = read<<<1, 4>>>(&tmp[4..], &mut out) after fill;
    }
}

fn main() {}
