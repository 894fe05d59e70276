//! A value is any pattern of its bits.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    safe fn scaled(data: &mut [f32], factor: bool, n: u32);
}

fn main() {}
