//! PTX has atomic operations of a few sizes alone.
use graph_runtime::bytemuck::{Pod, Zeroable};
use graph_runtime::{Atomic, cuda_kernels};

#[derive(Clone, Copy)]
#[repr(C)]
struct Three([u32; 3]);

// SAFETY: plain integers.
unsafe impl Zeroable for Three {}
// SAFETY: plain integers without padding.
unsafe impl Pod for Three {}

#[cuda_kernels("../../../kernels/atomic.ptx")]
unsafe extern "C" {
    safe fn count(bins: &[Atomic<Three>]);
}

fn main() {}
