//! A value is always initialised.
use graph_runtime::{cuda_kernels};
use std::mem::MaybeUninit;

#[cuda_kernels("../../../kernels/atomic.ptx")]
unsafe extern "C" {
    safe fn from(tmp: MaybeUninit<u64>, out: &mut [f32]);
}

fn main() {}
