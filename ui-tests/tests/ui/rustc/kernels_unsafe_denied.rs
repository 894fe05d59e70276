//! rustc's lint sees the block whose author vouches for the kernels.
#![deny(unsafe_code)]

use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    safe fn write(out: &mut [f32]);
}

mod kernels {
    use graph_runtime::cuda_kernels;

    #[cuda_kernels("../../../kernels/ui.ptx")]
    #[expect(unsafe_code, reason = "compared with their PTX, and read by two of us")]
    unsafe extern "C" {
        pub(super) safe fn read(input: &[f32], out: &mut [f32]);
        pub(super) fn scaled(data: &mut [f32], factor: f32, n: u32);
    }
}

fn main() {
    let _ = (size_of::<write>(), size_of::<kernels::read>(), size_of::<kernels::scaled>());
}
