//! A kernel is declared under its name in the PTX.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    safe fn convolve(out: &mut [f32]);
}

fn main() {}
