use graph_runtime::cuda_kernels;

#[cuda_kernels("../ui-tests/kernels/odd.ptx")]
unsafe extern "C" {
    // Graphs launch these by `unsafe`. A `safe fn` needs none: write it if `#[requires(..)]`s, such as
    // `#[requires(threads <= data.len())]`, keep the kernel within its memory for all arguments.

    #[link_name = "_Z7mangledPf"]
    fn mangled(out: &mut [f32]);

    fn with_helper(data: &mut [f32]);

    fn by_address(
        address: &mut [u32], // decide: or `f32`, `i32`, or any `Pod` type of 4 bytes
    );

    fn by_view(
        view: [u64; 2], // decide: `View`: a `#[repr(C)]` struct that is `Pod`, of 16 bytes aligned to 8
    );

    fn gather(
        table: &[u64], // decide: or `f64`, `i64`, or any `Pod` type of 8 bytes
        out: &mut [f32],
    );

    fn either(first: &mut [f32], second: &mut [f32], which: u32);

    fn scalars(out: &mut [f32], factor: f64, flag: u8, offset: i32);

    fn with_pair(
        out: &mut [f32],
        pair: [u16; 4], // decide: `Pair`: a `#[repr(C)]` struct that is `Pod`, of 8 bytes aligned to 2
    );
}
