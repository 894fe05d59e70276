//! The last kernel reads early what a kernel two edges before writes, which may still run.
use graph_runtime::cuda_graph;
use ui_tests::*;

cuda_graph! {
    graph Test {
        device a: [f32; 1024];
        device b: [f32; 1024];
        device c: [f32; 1024];
        kernel first  = chained<<<4, 256>>>(&a, &mut b);
        kernel second = chained<<<4, 256>>>(&b, &mut c)       after programmatic(first);
        kernel last   = eager<<<2, 256>>>(&b[..512], &mut a)  after programmatic(second);
    }
}

fn main() {}
