//! Another type of this name means nothing.
use graph_runtime::{cuda_kernels};

struct MaybeUninit<T>(T);

#[cuda_kernels("../../../kernels/atomic.ptx")]
unsafe extern "C" {
    safe fn through(tmp: &mut [MaybeUninit<f32>], out: &mut [f32]);
}

fn main() {}
