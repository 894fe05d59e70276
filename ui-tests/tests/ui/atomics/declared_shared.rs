//! A kernel that only updates may be declared with `Atomic`, or as `&mut`.
use graph_runtime::{cuda_kernels};

#[cuda_kernels("../../../kernels/atomic.ptx")]
unsafe extern "C" {
    safe fn count(bins: &[u32]);
}

fn main() {}
