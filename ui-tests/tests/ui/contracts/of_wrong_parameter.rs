//! A mistake in a parameter is not another one of the contract that mentions it.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    #[requires(n <= data.len())]
    safe fn scaled(data: *mut f32, factor: f32, n: u32);
}

fn main() {}
