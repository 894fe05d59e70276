//! rustc knows the size of elements that are no scalars.
use graph_runtime::bytemuck::{Pod, Zeroable};
use graph_runtime::{Atomic, cuda_kernels};

#[derive(Clone, Copy)]
#[repr(transparent)]
struct Half(u16);

// SAFETY: plain integers.
unsafe impl Zeroable for Half {}
// SAFETY: plain integers without padding.
unsafe impl Pod for Half {}

#[cuda_kernels("../../../kernels/atomic.ptx")]
unsafe extern "C" {
    safe fn count(bins: &[Atomic<Half>]);
}

fn main() {}
