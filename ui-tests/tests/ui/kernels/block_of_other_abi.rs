//! Kernels have the ABI of C.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "system" {
    safe fn write(out: &mut [f32]);
}

fn main() {}
