//! A crate that forbids unsafe code has no kernels: they are in another crate.
#![forbid(unsafe_code)]

use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    safe fn write(out: &mut [f32]);
    fn scaled(data: &mut [f32], factor: f32, n: u32);
}

fn main() {
    let _ = (size_of::<write>(), size_of::<scaled>());
}
