//! Each parameter has a name of its own.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    safe fn two_out(out: &mut [f32], out: &mut [f32]);
}

fn main() {}
