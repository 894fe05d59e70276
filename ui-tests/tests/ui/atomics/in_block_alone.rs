//! Other nodes do not see what is atomic within a block as one.
use graph_runtime::{Atomic, cuda_kernels};

#[cuda_kernels("../../../kernels/atomic.ptx")]
unsafe extern "C" {
    safe fn count_in_block(bins: &[Atomic<u32>]);
}

fn main() {}
