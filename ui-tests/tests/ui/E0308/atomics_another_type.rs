//! Another type of this name means nothing.
use graph_runtime::{cuda_kernels};

struct Atomic<T>(T);

#[cuda_kernels("../../../kernels/atomic.ptx")]
unsafe extern "C" {
    safe fn count(bins: &[Atomic<u32>]);
}

fn main() {}
