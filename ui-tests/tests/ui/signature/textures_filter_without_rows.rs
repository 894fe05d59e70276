//! Texels that are read by their number have no neighbours.
use graph_runtime::{Filter, Sampler, Texel, cuda_kernels};

enum Smooth {}
impl Sampler for Smooth {
    const FILTER: Filter = Filter::Linear;
}

#[cuda_kernels("../../../kernels/textures.ptx")]
unsafe extern "C" {
    safe fn fetch(table: &[Texel<f32, Smooth>], out: &mut [f32]);
}

fn main() {}
