//! Mistakes with textures.
use graph_runtime::{Addressing, Filter, Sampler, Texel, cuda_kernels};

// Texels that are read by their number have no neighbours.
enum Smooth {}
impl Sampler for Smooth {
    const FILTER: Filter = Filter::Linear;
}

#[cuda_kernels("../../../kernels/textures.ptx")]
unsafe extern "C" {
    safe fn fetch(table: &[Texel<f32, Smooth>], out: &mut [f32]);
}

// CUDA repeats textures from 0 to 1 only.
enum Tiles {}
impl Sampler for Tiles {
    const ADDRESSING: Addressing = Addressing::Wrap;
}

#[cuda_kernels("../../../kernels/textures.ptx")]
unsafe extern "C" {
    safe fn sample(image: &[[Texel<f32, Tiles>; 8]], out: &mut [f32]);
}

fn main() {}
