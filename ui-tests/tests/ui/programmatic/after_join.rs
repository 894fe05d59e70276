//! Only kernels can let others start early.
use graph_runtime::cuda_graph;
use ui_tests::*;

cuda_graph! {
    graph Test {
        device a: [f32; 1024];
        device b: [f32; 1024];
        device c: [f32; 1024];
        join start;
        kernel first = chained<<<4, 256>>>(&a, &mut b)  after programmatic(start);
        kernel last  = chained<<<4, 256>>>(&b, &mut c)  after first;
    }
}

fn main() {}
