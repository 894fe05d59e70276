use graph_runtime::{Atomic, cuda_kernels};

#[cuda_kernels("../ui-tests/kernels/atomic.ptx")]
unsafe extern "C" {
    // Graphs launch kernels that are not `safe` by `unsafe`. Each `safe fn` here is proved, and `prove` after the
    // path keeps it so. Make others `safe` if `#[requires(..)]`s keep them within their memory.

    #[requires(threads <= bins.len())]
    safe fn count(bins: &[Atomic<u32>]);

    #[requires(threads <= r#where.len() && threads <= bins.len())]
    safe fn count_where(bins: &[Atomic<u32>], r#where: &[u32]);

    #[requires(threads <= bins.len() && threads <= out.len())]
    safe fn count_and_look(bins: &mut [u32], out: &mut [u32]);

    #[requires(threads <= bins.len())]
    safe fn count_in_block(bins: &mut [u32]);

    fn count_wide(bins: &[Atomic<u32>]);

    #[requires(threads <= bins.len() && threads <= out.len())]
    safe fn look(bins: &[u32], out: &mut [u32]);

    fn through(tmp: &mut [f32], out: &mut [f32]);

    #[requires(threads <= tmp.len() && threads <= out.len())]
    safe fn from(tmp: &[f32], out: &mut [f32]);

    #[requires(threads <= bytes.len() && 256 <= bins.len())]
    safe fn histogram(bins: &[Atomic<u32>], bytes: &[u8]);

    #[requires(threads <= output.len() && threads <= target.len() && 1 <= loss.len())]
    safe fn add_loss(loss: &[Atomic<f32>], output: &[f32], target: &[f32]);

    #[requires(64 * grid.x <= x.len() && threads <= x.len() && threads <= exps.len() && 64 * grid.x <= exps.len() && threads <= out.len())]
    safe fn softmax(x: &[f32], exps: &mut [f32], out: &mut [f32]);
}
