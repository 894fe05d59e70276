//! The later kernel starts no sooner than behind a plain edge.
#![deny(deprecated)]
use graph_runtime::cuda_graph;
use ui_tests::*;

cuda_graph! {
    graph Test {
        device a: [f32; 1024];
        device b: [f32; 1024];
        device c: [f32; 1024];
        kernel first = write<<<4, 256>>>(&mut b);
        kernel last  = chained<<<4, 256>>>(&b, &mut c)  after programmatic(first);
        memcpy other = c -> a                           after last;
    }
}

fn main() {}
