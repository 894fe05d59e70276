use graph_runtime::{Atomic, cuda_kernels};

#[cuda_kernels("../docs/kernels/tutorial.ptx")]
unsafe extern "C" {
    // Graphs launch kernels that are not `safe` by `unsafe`. Each `safe fn` here is proved, and `prove` after the
    // path keeps it so. Make others `safe` if `#[requires(..)]`s keep them within their memory.

    #[requires(4 * threads <= x.len() && 4 <= w.len() && threads <= y.len())]
    safe fn predict(x: &[f32], w: &[f32], y: &mut [f32]);

    #[requires(threads <= y.len() && threads <= target.len() && threads <= error.len())]
    safe fn subtract(y: &[f32], target: &[f32], error: &mut [f32]);

    #[requires(threads <= error.len() && 1 <= loss.len())]
    safe fn add_loss(loss: &[Atomic<f32>], error: &[f32], n: f32);

    #[requires(threads + 4 * n <= 4 + x.len() && n <= error.len() && threads <= slope.len())]
    safe fn differentiate(x: &[f32], error: &[f32], slope: &mut [f32], n: u32);

    #[requires(threads <= slope.len() && threads <= w.len())]
    safe fn descend(w: &mut [f32], slope: &[f32], rate: f32);
}
