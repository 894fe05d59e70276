//! The first iteration reads what no iteration before it has written.
use graph_runtime::cuda_graph;
use ui_tests::{read, write};

cuda_graph! {
    graph Test {
        device flag: u32;
        scratch tmp: [f32; 4];
        device out: [f32; 4];
        while repeat = flag {
            kernel use_it = read<<<1, 4>>>(&tmp, &mut out);
            kernel fill = write<<<1, 4>>>(&mut tmp) after use_it;
            memset stop = flag <- 0 after fill;
        };
    }
}

fn main() {}
