//! The path leads to the runtime.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../../ui-tests/kernels/ui.ptx", crate = facade::graph_runtime)]
unsafe extern "C" {
    #[requires(threads <= out.len())]
    pub safe fn write(out: &mut [f32]);
    pub fn scaled(data: &mut [f32], factor: f32, n: u32);
}

fn main() {}
