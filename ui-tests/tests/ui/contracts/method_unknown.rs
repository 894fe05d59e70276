//! A contract has a few methods of integers.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    #[requires(n.pow(2) <= data.len())]
    safe fn scaled(data: &mut [f32], factor: f32, n: u32);
}

fn main() {}
