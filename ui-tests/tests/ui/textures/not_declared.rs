//! The kernel takes a handle, and would get an address.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/textures.ptx")]
unsafe extern "C" {
    safe fn sample(image: &[[f32; 8]], out: &mut [f32]);
}

fn main() {}
