//! A value has no address that other nodes could update.
use graph_runtime::{Atomic, cuda_kernels};

#[cuda_kernels("../../../kernels/atomic.ptx")]
unsafe extern "C" {
    safe fn count(bins: Atomic<u32>);
}

fn main() {}
