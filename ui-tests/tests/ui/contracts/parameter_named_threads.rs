//! A name in a contract means one thing.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    #[requires(threads <= out.len())]
    safe fn scaled(out: &mut [f32], factor: f32, threads: u32);
}

fn main() {}
