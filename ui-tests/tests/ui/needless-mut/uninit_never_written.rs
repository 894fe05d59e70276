#![deny(warnings)]
//! Memory that a kernel never writes is not initialised by it.
use graph_runtime::{cuda_kernels};
use std::mem::MaybeUninit;

#[cuda_kernels("../../../kernels/atomic.ptx")]
unsafe extern "C" {
    safe fn from(tmp: &mut [MaybeUninit<f32>], out: &mut [f32]);
}

fn main() {}
