//! Texels have one to three dimensions.
use graph_runtime::{Texel, cuda_kernels};

#[cuda_kernels("../../../kernels/textures.ptx")]
unsafe extern "C" {
    safe fn sample(image: &[[[[Texel<f32>; 8]; 8]; 8]], out: &mut [f32]);
}

fn main() {}
