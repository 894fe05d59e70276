//! A contract is made of few things.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    #[requires(|| true)]
    safe fn scaled(data: &mut [f32], factor: f32, n: u32);
}

fn main() {}
