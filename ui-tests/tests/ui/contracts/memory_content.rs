//! A contract cannot look into memory.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    #[requires(data[0] == 0.0)]
    safe fn scaled(data: &mut [f32], factor: f32, n: u32);
}

fn main() {}
