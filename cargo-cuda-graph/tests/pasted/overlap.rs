use graph_runtime::cuda_kernels;

#[cuda_kernels("../examples/kernels/overlap.ptx")]
unsafe extern "C" {
    // Graphs launch these by `unsafe`. A `safe fn` needs none: write it if `#[requires(..)]`s, such as
    // `#[requires(threads <= data.len())]`, keep the kernel within its memory for all arguments.

    fn advance(data: &mut [u32], step: u32);
}
