use graph_runtime::cuda_kernels;

#[cuda_kernels("../examples/kernels/forward_backward.ptx")]
unsafe extern "C" {
    // Graphs launch kernels that are not `safe` by `unsafe`. Each `safe fn` here is proved, and `prove` after the
    // path keeps it so. Make others `safe` if `#[requires(..)]`s keep them within their memory.

    #[requires(threads <= data.len())]
    safe fn kernel_forward(data: &mut [f32]);

    #[requires(threads <= data.len())]
    safe fn kernel_backward(data: &mut [f32]);
}
