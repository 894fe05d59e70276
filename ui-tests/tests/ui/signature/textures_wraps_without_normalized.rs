//! CUDA repeats textures from 0 to 1 only.
use graph_runtime::{Addressing, Sampler, Texel, cuda_kernels};

enum Tiles {}
impl Sampler for Tiles {
    const ADDRESSING: Addressing = Addressing::Wrap;
}

#[cuda_kernels("../../../kernels/textures.ptx")]
unsafe extern "C" {
    safe fn sample(image: &[[Texel<f32, Tiles>; 8]], out: &mut [f32]);
}

fn main() {}
