//! A kernel returns nothing.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    safe fn write(out: &mut [f32]) -> u32;
}

fn main() {}
