//! Updates are of the size of the elements, or two nodes could each update half of what the other does.
use graph_runtime::{Atomic, cuda_kernels};

#[cuda_kernels("../../../kernels/atomic.ptx")]
unsafe extern "C" {
    safe fn count_wide(bins: &[Atomic<u32>]);
}

fn main() {}
