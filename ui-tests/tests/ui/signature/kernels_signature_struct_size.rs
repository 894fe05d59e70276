//! rustc knows the size of a struct, the PTX the one that the kernel takes.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    fn with_struct(data: &mut [f32], p: [f32; 4]);
}

fn main() {}
