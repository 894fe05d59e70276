//! A kernel of `&[Atomic<T>]` uses nothing but `atom` and `red`.
use graph_runtime::{Atomic, cuda_kernels};

#[cuda_kernels("../../../kernels/atomic.ptx")]
unsafe extern "C" {
    safe fn count_and_look(bins: &[Atomic<u32>], out: &mut [u32]);
}

fn main() {}
