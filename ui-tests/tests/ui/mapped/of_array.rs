//! An array is no element.
use graph_runtime::{Mapped, cuda_kernels};

#[cuda_kernels("../../../kernels/mapped.ptx")]
unsafe extern "C" {
    safe fn announce(news: &[Mapped<[u32; 2]>], value: u32);
}

fn main() {}
