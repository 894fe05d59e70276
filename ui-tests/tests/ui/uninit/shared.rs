//! Only `&mut` memory can be initialised.
use graph_runtime::{cuda_kernels};
use std::mem::MaybeUninit;

#[cuda_kernels("../../../kernels/atomic.ptx")]
unsafe extern "C" {
    safe fn from(tmp: &[MaybeUninit<f32>], out: &mut [f32]);
}

fn main() {}
