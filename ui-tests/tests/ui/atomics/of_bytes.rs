//! PTX has no atomic operations on bytes.
use graph_runtime::{Atomic, cuda_kernels};

#[cuda_kernels("../../../kernels/atomic.ptx")]
unsafe extern "C" {
    safe fn count(bins: &[Atomic<u8>]);
}

fn main() {}
