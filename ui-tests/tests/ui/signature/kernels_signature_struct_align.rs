//! rustc knows the alignment of a struct, the PTX the one that the kernel takes.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/odd.ptx")]
unsafe extern "C" {
    safe fn with_pair(out: &mut [f32], pair: [u32; 2]);
}

fn main() {}
