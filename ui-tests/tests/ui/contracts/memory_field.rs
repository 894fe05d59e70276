//! The length of memory is a method.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    #[requires(threads <= out.len)]
    safe fn write(out: &mut [f32]);
}

fn main() {}
