//! What is updated atomically starts from what was there.
use graph_runtime::{Atomic, cuda_kernels};
use std::mem::MaybeUninit;

#[cuda_kernels("../../../kernels/atomic.ptx")]
unsafe extern "C" {
    safe fn count(bins: &[Atomic<MaybeUninit<u32>>]);
}

fn main() {}
