//! CUDA has no texels of `f64`.
use graph_runtime::{Texel, cuda_kernels};

#[cuda_kernels("../../../kernels/textures.ptx")]
unsafe extern "C" {
    safe fn fetch(table: &[Texel<f64>], out: &mut [f32]);
}

fn main() {}
