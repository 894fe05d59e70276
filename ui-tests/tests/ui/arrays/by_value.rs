//! Surfaces are memory.
use graph_runtime::{Surfel, Texel, cuda_kernels};

#[cuda_kernels("../../../kernels/arrays.ptx")]
unsafe extern "C" {
    safe fn soften(from: &[[Texel<f32>; 8]], to: Surfel<f32>);
}

fn main() {}
