use graph_runtime::cuda_kernels;

#[cuda_kernels("../examples/kernels/roots.ptx")]
unsafe extern "C" {
    // Graphs launch these by `unsafe`. A `safe fn` needs none: write it if `#[requires(..)]`s, such as
    // `#[requires(threads <= data.len())]`, keep the kernel within its memory for all arguments.

    fn newton(a: &[f32], x: &mut [f32], more: &mut [u32], tolerance: f32, n: u32);
}
