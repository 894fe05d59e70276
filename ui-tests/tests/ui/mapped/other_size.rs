//! Host and kernel access elements of one size.
use graph_runtime::{Mapped, cuda_kernels};

#[cuda_kernels("../../../kernels/mapped.ptx")]
unsafe extern "C" {
    safe fn announce_wide(news: &[Mapped<u32>]);
}

fn main() {}
