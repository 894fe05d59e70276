//! A kernel is declared under its name in the PTX.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/empty.ptx")]
unsafe extern "C" {
    safe fn write(out: &mut [f32]);
}

fn main() {}
