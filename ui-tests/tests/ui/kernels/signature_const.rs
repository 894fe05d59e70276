//! A kernel is a plain function.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    const fn write(out: &mut [f32]);
}

fn main() {}
