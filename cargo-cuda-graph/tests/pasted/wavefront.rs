use graph_runtime::cuda_kernels;

#[cuda_kernels("../examples/kernels/wavefront.ptx")]
unsafe extern "C" {
    // Graphs launch these by `unsafe`. A `safe fn` needs none: write it if `#[requires(..)]`s, such as
    // `#[requires(threads <= data.len())]`, keep the kernel within its memory for all arguments.

    fn distances(
        above: &[u32],
        left: &[u32],
        corner: &[u32],
        a: &[u8],
        b: &[u8],
        cells: &mut [u32],
    );
}
