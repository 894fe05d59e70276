//! An array is no number: operations on all of it and on its elements would not be atomic to each other.
use graph_runtime::{Atomic, cuda_kernels};

type Pair = [u32; 2];

#[cuda_kernels("../../../kernels/atomic.ptx")]
unsafe extern "C" {
    safe fn count(bins: &[Atomic<Pair>]);
}

fn main() {}
