//! Memory without rows is not read by `tex2D`.
use graph_runtime::{Texel, cuda_kernels};

#[cuda_kernels("../../../kernels/textures.ptx")]
unsafe extern "C" {
    safe fn sample(image: &[Texel<f32>], out: &mut [f32]);
}

fn main() {}
