//! Kernels only read through textures.
use graph_runtime::{Texel, cuda_kernels};

#[cuda_kernels("../../../kernels/textures.ptx")]
unsafe extern "C" {
    safe fn fetch(table: &mut [Texel<f32>], out: &mut [f32]);
}

fn main() {}
