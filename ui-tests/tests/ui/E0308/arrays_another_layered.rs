//! Another type of this name means nothing.
use graph_runtime::{Texel, cuda_kernels};

struct Layered<T: ?Sized>(std::marker::PhantomData<T>);

#[cuda_kernels("../../../kernels/arrays.ptx")]
unsafe extern "C" {
    safe fn look_at_layers(layers: &Layered<[[[Texel<f32>; 8]; 8]]>, out: &mut [f32]);
}

fn main() {}
