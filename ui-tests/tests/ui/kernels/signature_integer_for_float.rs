//! Integers and floating-point numbers are not mixed up.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    safe fn scaled(data: &mut [f32], factor: u32, n: u32);
}

fn main() {}
