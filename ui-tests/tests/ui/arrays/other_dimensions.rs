//! The kernel reads a volume.
use graph_runtime::{Texel, cuda_kernels};

#[cuda_kernels("../../../kernels/arrays.ptx")]
unsafe extern "C" {
    safe fn look_into(volume: &[[Texel<f32>; 8]], out: &mut [f32]);
}

fn main() {}
