//! The later kernel does not wait.
use graph_runtime::cuda_graph;
use ui_tests::*;

cuda_graph! {
    graph Test {
        device a: [f32; 1024];
        device b: [f32; 1024];
        device c: [f32; 1024];
        kernel first = chained<<<4, 256>>>(&a, &mut b);
        kernel last  = read<<<4, 256>>>(&b, &mut c)  after programmatic(first);
    }
}

fn main() {}
