use graph_runtime::cuda_kernels;

#[cuda_kernels("../examples/kernels/overlap.ptx")]
unsafe extern "C" {
    // Graphs launch kernels that are not `safe` by `unsafe`. Each `safe fn` here is proved, and `prove` after the
    // path keeps it so. Make others `safe` if `#[requires(..)]`s keep them within their memory.

    #[requires(threads <= data.len())]
    safe fn advance(data: &mut [u32], step: u32);
}
