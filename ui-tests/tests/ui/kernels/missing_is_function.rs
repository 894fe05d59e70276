//! A function is no kernel.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/odd.ptx")]
unsafe extern "C" {
    safe fn helper(value: f32);
}

fn main() {}
