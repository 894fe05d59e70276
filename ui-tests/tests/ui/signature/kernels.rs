//! Mistakes in declarations of kernels.
use graph_runtime::cuda_kernels;

// rustc knows the alignment of a struct, the PTX the one that the kernel takes.
#[cuda_kernels("../../../kernels/odd.ptx")]
unsafe extern "C" {
    safe fn with_pair(out: &mut [f32], pair: [u32; 2]);
}

// rustc knows the size of a struct, the PTX the one that the kernel takes.
#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    fn with_struct(data: &mut [f32], p: [f32; 4]);
}

fn main() {}
