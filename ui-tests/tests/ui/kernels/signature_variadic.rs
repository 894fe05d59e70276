//! A kernel has a fixed number of parameters.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    fn write(out: &mut [f32], ...);
}

fn main() {}
