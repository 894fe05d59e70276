//! The size of a value does not depend on the host.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    safe fn scaled(data: &mut [f32], factor: f32, n: usize);
}

fn main() {}
