use graph_runtime::cuda_kernels;

#[cuda_kernels("../graph-ptx/tests/data/hopper.sm_90.ptx")]
unsafe extern "C" {
    // Graphs launch kernels that are not `safe` by `unsafe`. Each `safe fn` here is proved, and `prove` after the
    // path keeps it so. Make others `safe` if `#[requires(..)]`s keep them within their memory.

    #[requires(block.x <= p0.len() && block.x <= p1.len())]
    safe fn chained(p0: &[f32], p1: &mut [f32]);

    fn clustered(
        p0: &mut [u32], // decide: or `f32`, `i32`, or any `Pod` type of 4 bytes
    );

    fn bulk(
        p0: &[u8], // decide: the PTX does not tell the elements
        p1: &mut [u8], // decide: the PTX does not tell the elements
    );

    // `tensor` needs a type of yours for `p0`: a `#[repr(C)]` struct that is `Pod`, of 128 bytes aligned to 64

    fn staged(
        p0: &[u8], // decide: the PTX does not tell the elements
        p1: &mut [u32], // decide: or `f32`, `i32`, or any `Pod` type of 4 bytes
    );

    fn matrix(
        p0: &[u16], // decide: or `i16`, `half::f16` or `half::bf16`
        p1: &mut [f32],
    );
}
