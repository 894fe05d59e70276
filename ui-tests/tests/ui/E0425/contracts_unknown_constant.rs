//! Any other name is a constant in scope.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    #[requires(n <= LIMIT)]
    safe fn scaled(data: &mut [f32], factor: f32, n: u32);
}

fn main() {}
