use graph_runtime::cuda_kernels;

#[cuda_kernels("../ui-tests/kernels/odd.ptx")]
unsafe extern "C" {
    // Graphs launch kernels that are not `safe` by `unsafe`. Each `safe fn` here is proved, and `prove` after the
    // path keeps it so. Make others `safe` if `#[requires(..)]`s keep them within their memory.

    #[link_name = "_Z7mangledPf"]
    #[requires(threads <= out.len())]
    safe fn mangled(out: &mut [f32]);

    fn with_helper(data: &mut [f32]);

    #[requires(threads <= address.len())]
    safe fn by_address(
        address: &mut [u32], // decide: or `f32`, `i32`, or any `Pod` type of 4 bytes
    );

    fn by_view(
        view: [u64; 2], // decide: `View`: a `#[repr(C)]` struct that is `Pod`, of 16 bytes aligned to 8
    );

    fn gather(
        table: &[u64], // decide: or `f64`, `i64`, or any `Pod` type of 8 bytes
        out: &mut [f32],
    );

    #[requires(threads <= first.len() && threads <= second.len())]
    safe fn either(first: &mut [f32], second: &mut [f32], which: u32);

    #[requires(threads <= out.len())]
    safe fn scalars(out: &mut [f32], factor: f64, flag: u8, offset: i32);

    #[requires(threads <= out.len())]
    safe fn with_pair(
        out: &mut [f32],
        pair: [u16; 4], // decide: `Pair`: a `#[repr(C)]` struct that is `Pod`, of 8 bytes aligned to 2
    );
}
