//! A safe kernel reaches memory through references only.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/odd.ptx")]
unsafe extern "C" {
    safe fn by_address(address: u64);
}

fn main() {}
