//! An instruction that nobody knows may write through its operands.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/future.ptx")]
unsafe extern "C" {
    #[requires(threads <= out.len())]
    safe fn known(out: &mut [u32]);
    safe fn future(data: &[u32]);
}

fn main() {}
