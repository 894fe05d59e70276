//! A kernel is declared once.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    safe fn write(out: &mut [f32]);
    safe fn write(out: &mut [f32]);
}

fn main() {}
