use graph_runtime::cuda_kernels;

#[cuda_kernels("../examples/kernels/forward_backward.ptx")]
unsafe extern "C" {
    // Graphs launch these by `unsafe`. A `safe fn` needs none: write it if `#[requires(..)]`s, such as
    // `#[requires(threads <= data.len())]`, keep the kernel within its memory for all arguments.

    fn kernel_forward(data: &mut [f32]);

    fn kernel_backward(data: &mut [f32]);
}
