//! An edge that is refused is one error: a warning that its earlier kernel never triggers would say nothing more.
#![deny(deprecated)]
use graph_runtime::cuda_graph;
use ui_tests::{read, write};

cuda_graph! {
    graph Test {
        device a: [f32; 1024];
        device b: [f32; 1024];
        kernel first = write<<<4, 256>>>(&mut a);
        kernel last  = read<<<4, 256>>>(&a, &mut b)  after programmatic(first);
    }
}

fn main() {}
