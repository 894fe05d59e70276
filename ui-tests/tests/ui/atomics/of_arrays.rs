//! Elements are atomic, not arrays of them.
use graph_runtime::{Atomic, cuda_kernels};

#[cuda_kernels("../../../kernels/atomic.ptx")]
unsafe extern "C" {
    safe fn count(bins: &[Atomic<[u32; 4]>]);
}

fn main() {}
