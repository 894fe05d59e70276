//! Accesses that could meet those of the host are strong.
use graph_runtime::{Mapped, cuda_kernels};

#[cuda_kernels("../../../kernels/mapped.ptx")]
unsafe extern "C" {
    safe fn plainly(news: &[Mapped<u32>]);
}

fn main() {}
