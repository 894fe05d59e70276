//! Kernels that update a variable of their module cannot run at the same time, whatever their arguments.

use graph_runtime::{cuda_graph, cuda_kernels};

#[cuda_kernels("../../../../graph-runtime/tests/kernels/test_kernels.ptx")]
unsafe extern "C" {
    safe fn count(out: &mut [u32]);
}

cuda_graph! {
    graph Test {
        device one: [u32; 1];
        device two: [u32; 1];
        kernel first  = count<<<1, 1>>>(&mut one);
        kernel second = count<<<1, 1>>>(&mut two);
    }
}

fn main() {}
