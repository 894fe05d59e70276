//! Another type of this name means nothing.
use graph_runtime::cuda_kernels;

struct Mapped<T>(T);

#[cuda_kernels("../../../kernels/mapped.ptx")]
unsafe extern "C" {
    safe fn announce(news: &[Mapped<u32>], value: u32);
}

fn main() {}
