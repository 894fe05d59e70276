//! The host may access the memory at any time, so no kernel has it for itself.
use graph_runtime::{Mapped, cuda_kernels};

#[cuda_kernels("../../../kernels/mapped.ptx")]
unsafe extern "C" {
    safe fn announce(news: &mut [Mapped<u32>], value: u32);
}

fn main() {}
