//! A parameter that the kernel writes is declared `&mut`.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    safe fn write(out: &[f32]);
}

fn main() {}
