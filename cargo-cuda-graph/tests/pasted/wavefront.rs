use graph_runtime::cuda_kernels;

#[cuda_kernels("../examples/kernels/wavefront.ptx")]
unsafe extern "C" {
    // Graphs launch kernels that are not `safe` by `unsafe`. Each `safe fn` here is proved, and `prove` after the
    // path keeps it so. Make others `safe` if `#[requires(..)]`s keep them within their memory.

    fn distances(
        above: &[u32],
        left: &[u32],
        corner: &[u32],
        a: &[u8],
        b: &[u8],
        cells: &mut [u32],
    );
}
