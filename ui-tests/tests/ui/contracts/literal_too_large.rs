//! A number in a contract is one that can be held.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    #[requires(factor < 1e999)]
    safe fn scaled(data: &mut [f32], factor: f32, n: u32);
}

fn main() {}
