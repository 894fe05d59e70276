use graph_runtime::{Atomic, cuda_kernels};

#[cuda_kernels("../graph-ptx/tests/data/pointers.sm_70.ptx")]
unsafe extern "C" {
    // Graphs launch kernels that are not `safe` by `unsafe`. Each `safe fn` here is proved, and `prove` after the
    // path keeps it so. Make others `safe` if `#[requires(..)]`s keep them within their memory.

    #[requires(grid.x <= 2097152 && threads <= p0.len())]
    safe fn scale(p0: &mut [f32], p1: f32, p2: u32);

    #[requires(p3 <= p1.len() && p3 <= p0.len() && p3 <= p2.len())]
    safe fn add(
        p0: &[f32],
        p1: &[f32],
        p2: &mut [f32],
        p3: u64, // decide: or memory, if it is an address that the kernel does not follow
    );

    fn mark(
        p0: &mut [u8], // decide: or `i8`
        p1: &mut [u8], // decide: or `i8`
    );

    #[requires(1 <= p2.len() && block.x <= p0.len() && block.x <= p1.len())]
    safe fn select(
        p0: &mut [u32], // decide: or `f32`, `i32`, or any `Pod` type of 4 bytes
        p1: &mut [u32], // decide: or `f32`, `i32`, or any `Pod` type of 4 bytes
        p2: &[u32], // decide: or `f32`, `i32`, or any `Pod` type of 4 bytes
    );

    fn join(
        p0: &mut [f32],
        p1: &mut [f32],
        p2: &[u32], // decide: or `f32`, `i32`, or any `Pod` type of 4 bytes
        p3: u32,
    );

    fn spill(
        p0: &mut [u32], // decide: or `f32`, `i32`, or any `Pod` type of 4 bytes
        p1: &mut [u32], // decide: or `f32`, `i32`, or any `Pod` type of 4 bytes
        p2: &[u32], // decide: or `f32`, `i32`, or any `Pod` type of 4 bytes
    );

    fn share(
        p0: &mut [u32], // decide: or `f32`, `i32`, or any `Pod` type of 4 bytes
        p1: &mut [u32], // decide: or `f32`, `i32`, or any `Pod` type of 4 bytes
        p2: &[u32], // decide: or `f32`, `i32`, or any `Pod` type of 4 bytes
    );

    fn gather(
        p0: &[u64], // decide: or `f64`, `i64`, or any `Pod` type of 8 bytes
        p1: &mut [f32],
    );

    fn scatter(
        p0: &[u64], // decide: or `f64`, `i64`, or any `Pod` type of 8 bytes
        p1: &[f32],
    );

    fn by_value(
        p0: [u64; 2], // decide: a `#[repr(C)]` struct that is `Pod`, of 16 bytes aligned to 8
        p1: f32,
    );

    #[requires(1 <= p1.len())]
    safe fn plain_struct(
        p0: [u64; 2], // decide: a `#[repr(C)]` struct that is `Pod`, of 16 bytes aligned to 8
        p1: &mut [f64],
    );

    #[requires(1 <= p1.len() && 1 <= p2.len())]
    safe fn dynamic_struct(
        p0: [u64; 2], // decide: a `#[repr(C)]` struct that is `Pod`, of 16 bytes aligned to 8
        p1: &[u32], // decide: or `f32`, `i32`, or any `Pod` type of 4 bytes
        p2: &mut [u32], // decide: or `f32`, `i32`, or any `Pod` type of 4 bytes
    );

    #[requires(1 <= p0.len())]
    safe fn address(p0: &mut [f32], p1: f32);

    fn calls(p0: &mut [f32], p1: &[f32], p2: u32);

    fn picks(
        p0: &mut [u32], // decide: or `f32`, `i32`, or any `Pod` type of 4 bytes
        p1: &mut [u32], // decide: or `f32`, `i32`, or any `Pod` type of 4 bytes
        p2: u32,
    );

    fn recursive(
        p0: &mut [f32],
        p1: &[u32], // decide: or `f32`, `i32`, or any `Pod` type of 4 bytes
        p2: &mut [u32], // decide: or `f32`, `i32`, or any `Pod` type of 4 bytes
    );

    fn indirect(p0: &[f32], p1: &mut [f32], p2: u32);

    fn globals(p0: &mut [f32]);

    fn atomics(
        p0: &[Atomic<u32>], // decide: or `f32`, `i32`, or any `Pod` type of 4 bytes
        p1: &[u32], // decide: or `f32`, `i32`, or any `Pod` type of 4 bytes
        p2: &[Atomic<u64>], // decide: or `f64`, `i64`, or any `Pod` type of 8 bytes
    );

    fn reduce(p0: &[f32], p1: &mut [f32], p2: u32);

    #[requires(block.x <= p0.len() && 4 * block.x <= shared)]
    safe fn dynamic(p0: &mut [f32], p1: u32);

    #[link_name = "_Z4fillIfLi4EEvPT_S0_"]
    #[requires(4 * block.x <= p0.len())]
    safe fn fill(p0: &mut [f32], p1: f32);

    #[link_name = "_Z4fillIdLi2EEvPT_S0_"]
    #[requires(2 * block.x <= p0.len())]
    safe fn fill_2(p0: &mut [f64], p1: f64);

    fn rebuild(p0: &mut [f32], p1: &[f32]);

    fn distance(
        p0: u64, // decide: or memory, if it is an address that the kernel does not follow
        p1: &mut [u32], // decide: or `f32`, `i32`, or any `Pod` type of 4 bytes
        p2: &mut [u32], // decide: or `f32`, `i32`, or any `Pod` type of 4 bytes
    );

    fn multi(
        p0: [u64; 17], // decide: a `#[repr(C)]` struct that is `Pod`, of 136 bytes aligned to 8
    );

    #[requires(p2 <= p1.len() && 15 + p2 <= p0.len())]
    safe fn aligned(
        p0: &mut [u8], // decide: or `i8`
        p1: &[u8], // decide: or `i8`
        p2: u64, // decide: or memory, if it is an address that the kernel does not follow
    );

    fn search(p0: &[f32], p1: &[f32], p2: &mut [f32], p3: f32);

    fn reversed(p0: &mut [f32], p1: &[f32], p2: u32);

    fn heap(
        p0: &mut [u64], // decide: or `f64`, `i64`, or any `Pod` type of 8 bytes
    );

    #[requires(block.x <= p0.len() && block.x <= p1.len() && block.x <= p2.len())]
    safe fn nullable(p0: &[f32], p1: &[f32], p2: &mut [f32]);

    fn histogram(
        p0: &[u32], // decide: or `f32`, `i32`, or any `Pod` type of 4 bytes
        p1: &mut [f32],
        p2: u32,
    );
}
