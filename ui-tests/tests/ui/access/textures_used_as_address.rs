//! The kernel gets a handle, which is no address.
use graph_runtime::{Texel, cuda_kernels};

#[cuda_kernels("../../../kernels/textures.ptx")]
unsafe extern "C" {
    safe fn sample_and_load(image: &[[Texel<f32>; 8]], out: &mut [f32]);
}

fn main() {}
