//! rustc's lint sees the `unsafe` that an author writes in a graph, and no other.
#![deny(unsafe_code)]

use graph_runtime::cuda_graph;
use ui_tests::{Params, with_struct, write};

cuda_graph! {
    graph Test {
        device data: [f32; 64];
        kernel ones = write<<<1, 64>>>(&mut data);
        kernel then = unsafe with_struct<<<1, 64>>>(&mut data, Params { a: 1.0, b: 0.0, n: 64 }) after ones;
    }
}

fn main() {}
