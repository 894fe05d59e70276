//! A contract nests at most 32 deep.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    #[requires(n < (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + (n + n)))))))))))))))))))))))))))))))))]
    safe fn scaled(data: &mut [f32], factor: f32, n: u32);
}

fn main() {}
