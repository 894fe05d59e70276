use graph_runtime::cuda_kernels;

#[cuda_kernels("../examples/kernels/roots.ptx")]
unsafe extern "C" {
    // Graphs launch kernels that are not `safe` by `unsafe`. Each `safe fn` here is proved, and `prove` after the
    // path keeps it so. Make others `safe` if `#[requires(..)]`s keep them within their memory.

    #[requires(n <= a.len() && n <= x.len() && 1 <= more.len())]
    safe fn newton(a: &[f32], x: &mut [f32], more: &mut [u32], tolerance: f32, n: u32);
}
