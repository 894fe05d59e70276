//! A parameter that is declared `&mut` but never written is a warning.
#![deny(deprecated)]
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    #[requires(threads <= input.len() && threads <= out.len())]
    safe fn needless(input: &mut [f32], out: &mut [f32]);
}

fn main() {}
