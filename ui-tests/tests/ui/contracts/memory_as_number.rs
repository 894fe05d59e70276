//! Memory is no number, but has a length.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    #[requires(n <= data)]
    safe fn scaled(data: &mut [f32], factor: f32, n: u32);
}

fn main() {}
