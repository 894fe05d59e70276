//! A node that writes only scratch memory which nothing reads is a warning, and so is one that only works for it.
#![deny(deprecated)]
use graph_runtime::cuda_graph;
use ui_tests::{read, write};

cuda_graph! {
    graph Test {
        scratch first: [f32; 4];
        scratch second: [f32; 4];
        device out: [f32; 4];
        kernel start = write<<<1, 4>>>(&mut first);
        kernel useless = read<<<1, 4>>>(&first, &mut second) after start;
        kernel useful = write<<<1, 4>>>(&mut out);
    }
}

fn main() {}
