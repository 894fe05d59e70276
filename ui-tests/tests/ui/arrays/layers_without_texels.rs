//! Only texels have layers.
use graph_runtime::{Layered, cuda_kernels};

#[cuda_kernels("../../../kernels/arrays.ptx")]
unsafe extern "C" {
    safe fn look_at_layers(layers: &Layered<[[f32; 8]]>, out: &mut [f32]);
}

fn main() {}
