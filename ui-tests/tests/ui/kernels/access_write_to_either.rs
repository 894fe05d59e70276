//! Parameters that the kernel may write are declared `&mut`.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/odd.ptx")]
unsafe extern "C" {
    safe fn either(first: &mut [f32], second: &[f32], which: u32);
}

fn main() {}
