//! A constant in a contract is an integer.
use graph_runtime::cuda_kernels;

const LIMIT: f32 = 4.0;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    #[requires(n <= LIMIT)]
    safe fn scaled(data: &mut [f32], factor: f32, n: u32);
}

fn main() {}
