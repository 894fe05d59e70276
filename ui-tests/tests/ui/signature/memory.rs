//! Mistakes of memory and its parts of the code `signature`.
use graph_runtime::bytemuck::{Pod, Zeroable};
use graph_runtime::{Addressing, Atomic, Filter, Sampler, Texel, cuda_kernels};

// PTX has atomic operations of a few sizes alone.
#[derive(Clone, Copy)]
#[repr(C)]
struct Three([u32; 3]);

// SAFETY: plain integers.
unsafe impl Zeroable for Three {}
// SAFETY: plain integers without padding.
unsafe impl Pod for Three {}

#[cuda_kernels("../../../kernels/atomic.ptx")]
unsafe extern "C" {
    safe fn count(bins: &[Atomic<Three>]);
}

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
