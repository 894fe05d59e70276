//! Warnings of the code `programmatic-edge`.
#![deny(deprecated)]
use graph_runtime::cuda_graph;
use ui_tests::*;

// An edge that is refused is one error: a warning that its earlier kernel never triggers would say nothing more.
cuda_graph! {
    graph RefusedWithoutWarning {
        device a: [f32; 1024];
        device b: [f32; 1024];
        kernel first = write<<<4, 256>>>(&mut a);
        kernel last  = read<<<4, 256>>>(&a, &mut b)  after programmatic(first);
    }
}

// The later kernel starts no sooner than behind a plain edge.
cuda_graph! {
    graph UpstreamNeverTriggers {
        device a: [f32; 1024];
        device b: [f32; 1024];
        device c: [f32; 1024];
        kernel first = write<<<4, 256>>>(&mut b);
        kernel last  = chained<<<4, 256>>>(&b, &mut c)  after programmatic(first);
        memcpy other = c -> a                           after last;
    }
}

fn main() {}
