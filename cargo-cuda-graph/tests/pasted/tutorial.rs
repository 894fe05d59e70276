use graph_runtime::{Atomic, cuda_kernels};

#[cuda_kernels("../docs/kernels/tutorial.ptx")]
unsafe extern "C" {
    // Graphs launch these by `unsafe`. A `safe fn` needs none: write it if `#[requires(..)]`s, such as
    // `#[requires(threads <= data.len())]`, keep the kernel within its memory for all arguments.

    fn predict(x: &[f32], w: &[f32], y: &mut [f32]);

    fn subtract(y: &[f32], target: &[f32], error: &mut [f32]);

    fn add_loss(loss: &[Atomic<f32>], error: &[f32], n: f32);

    fn differentiate(x: &[f32], error: &[f32], slope: &mut [f32], n: u32);

    fn descend(w: &mut [f32], slope: &[f32], rate: f32);
}
