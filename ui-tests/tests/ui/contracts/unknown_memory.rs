//! A contract is about the parameters and the launch.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    #[requires(n <= weights.len())]
    safe fn scaled(data: &mut [f32], factor: f32, n: u32);
}

fn main() {}
