//! A node that writes scratch memory after the read comes too late.
use graph_runtime::cuda_graph;
use ui_tests::{read, write};

cuda_graph! {
    graph Test {
        scratch tmp: [f32; 4];
        device out: [f32; 4];
        kernel use_it = read<<<1, 4>>>(&tmp, &mut out);
        kernel fill = write<<<1, 4>>>(&mut tmp) after use_it;
        kernel again = read<<<1, 4>>>(&tmp, &mut out) after fill;
    }
}

fn main() {}
