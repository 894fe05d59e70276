//! A value is of a scalar type or of a `Pod` struct.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    safe fn scaled(data: &mut [f32], factors: (f32, f32), n: u32);
}

fn main() {}
