//! Layers have rows.
use graph_runtime::{Layered, Texel, cuda_kernels};

#[cuda_kernels("../../../kernels/arrays.ptx")]
unsafe extern "C" {
    safe fn look_at_layers(layers: &Layered<[Texel<f32>]>, out: &mut [f32]);
}

fn main() {}
