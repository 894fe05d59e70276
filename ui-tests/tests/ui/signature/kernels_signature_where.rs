//! A kernel has no generics.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    safe fn write(out: &mut [f32])
    where
        f32: Copy;
}

fn main() {}
