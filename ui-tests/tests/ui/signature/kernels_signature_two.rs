//! Each parameter is a mistake of its own.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/odd.ptx")]
unsafe extern "C" {
    safe fn scalars(out: &mut [f32], factor: f32, flag: u8, offset: f32);
}

fn main() {}
