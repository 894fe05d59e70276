//! A parameter of a kernel has a name.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    safe fn write(_: &mut [f32]);
}

fn main() {}
