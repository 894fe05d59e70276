//! `div_ceil` and the like are for integers.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    #[requires(factor.is_multiple_of(2))]
    safe fn scaled(data: &mut [f32], factor: f32, n: u32);
}

fn main() {}
