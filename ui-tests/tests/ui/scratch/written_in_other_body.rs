//! Only one of two bodies runs, so neither initializes memory for the other.
use graph_runtime::cuda_graph;
use ui_tests::read;

cuda_graph! {
    graph Test {
        device flag: u32;
        scratch tmp: [f32; 4];
        device out: [f32; 4];
        if maybe = flag {
            memset fill = tmp <- 1.0;
        } else {
            kernel use_it = read<<<1, 4>>>(&tmp, &mut out);
        };
    }
}

fn main() {}
