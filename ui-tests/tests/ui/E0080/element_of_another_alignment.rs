use graph_runtime::bytemuck::{Pod, Zeroable};
use graph_runtime::cuda_kernels;

#[allow(non_camel_case_types)]
#[derive(Clone, Copy)]
#[repr(transparent)]
struct f32([u8; 4]);

// SAFETY: four bytes, of which any are a value.
unsafe impl Zeroable for f32 {}
// SAFETY: as above.
unsafe impl Pod for f32 {}

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    #[requires(threads <= data.len())]
    safe fn write(data: &mut [f32]);
}

fn main() {}
