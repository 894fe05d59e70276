//! Atomic updates of host memory are not atomic for the host.
use graph_runtime::{Mapped, cuda_kernels};

#[cuda_kernels("../../../kernels/mapped.ptx")]
unsafe extern "C" {
    safe fn update(news: &[Mapped<u32>]);
}

fn main() {}
