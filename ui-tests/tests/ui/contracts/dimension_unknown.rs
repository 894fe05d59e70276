//! Grid and block have the axes x, y and z.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    #[requires(block.w <= 16)]
    safe fn scaled(data: &mut [f32], factor: f32, n: u32);
}

fn main() {}
