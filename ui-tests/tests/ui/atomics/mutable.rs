//! Memory that is updated atomically may be shared, so it is passed as `&`.
use graph_runtime::{Atomic, cuda_kernels};

#[cuda_kernels("../../../kernels/atomic.ptx")]
unsafe extern "C" {
    safe fn count(bins: &mut [Atomic<u32>]);
}

fn main() {}
