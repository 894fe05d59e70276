use graph_runtime::{Atomic, cuda_kernels};

#[cuda_kernels("../ui-tests/kernels/atomic.ptx")]
unsafe extern "C" {
    // Graphs launch these by `unsafe`. A `safe fn` needs none: write it if `#[requires(..)]`s, such as
    // `#[requires(threads <= data.len())]`, keep the kernel within its memory for all arguments.

    fn count(bins: &[Atomic<u32>]);

    fn count_where(bins: &[Atomic<u32>], r#where: &[u32]);

    fn count_and_look(bins: &mut [u32], out: &mut [u32]);

    fn count_in_block(bins: &mut [u32]);

    fn count_wide(bins: &[Atomic<u32>]);

    fn look(bins: &[u32], out: &mut [u32]);

    fn through(tmp: &mut [f32], out: &mut [f32]);

    fn from(tmp: &[f32], out: &mut [f32]);

    fn histogram(bins: &[Atomic<u32>], bytes: &[u8]);

    fn add_loss(loss: &[Atomic<f32>], output: &[f32], target: &[f32]);

    fn softmax(x: &[f32], exps: &mut [f32], out: &mut [f32]);
}
