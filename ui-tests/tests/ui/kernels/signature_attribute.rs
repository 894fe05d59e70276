//! Attributes on parameters mean nothing.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    safe fn write(#[cfg(unix)] out: &mut [f32]);
}

fn main() {}
