//! A parameter has the size that the kernel takes.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    safe fn scaled(data: &mut [f32], factor: f64, n: u32);
}

fn main() {}
