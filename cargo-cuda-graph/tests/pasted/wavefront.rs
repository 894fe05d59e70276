use graph_runtime::cuda_kernels;

#[cuda_kernels("../examples/kernels/wavefront.ptx")]
unsafe extern "C" {
    // Graphs launch kernels that are not `safe` by `unsafe`. Each `safe fn` here is proved, and `prove` after the
    // path keeps it so. Make others `safe` if `#[requires(..)]`s keep them within their memory.

    #[requires(block.x <= 1 && block.x <= a.len() && 16368 <= left.len() && 256 <= corner.len() && 28 <= b.len() && 267 <= above.len() && 15373 <= cells.len())]
    safe fn distances(
        above: &[u32],
        left: &[u32],
        corner: &[u32],
        a: &[u8],
        b: &[u8],
        cells: &mut [u32],
    );
}
