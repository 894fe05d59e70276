//! A declaration has no more than the parameters.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    safe fn write(out: &mut [f32], n: u32);
}

fn main() {}
