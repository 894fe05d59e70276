//! Only words are loaded and stored as one.
use graph_runtime::{Mapped, cuda_kernels};

#[cuda_kernels("../../../kernels/mapped.ptx")]
unsafe extern "C" {
    safe fn announce(news: &[Mapped<u8>], value: u32);
}

fn main() {}
