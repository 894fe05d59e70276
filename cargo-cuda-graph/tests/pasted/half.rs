use graph_runtime::{Atomic, cuda_kernels};

#[cuda_kernels("../graph-runtime/tests/corpus/kernels/half.ptx")]
unsafe extern "C" {
    // Graphs launch kernels that are not `safe` by `unsafe`. Each `safe fn` here is proved, and `prove` after the
    // path keeps it so. Make others `safe` if `#[requires(..)]`s keep them within their memory.

    #[requires(threads <= first.len() && threads <= second.len() && threads <= third.len() && 17 * threads <= out.len())]
    safe fn half_arithmetic(
        first: &[u16], // decide: or `half::f16`
        second: &[u16], // decide: or `half::f16`
        third: &[u16], // decide: or `half::f16`
        out: &mut [u16], // decide: or `half::f16`
    );

    #[requires(threads <= first.len() && threads <= second.len() && threads <= third.len() && 16 * threads <= out.len())]
    safe fn half2_arithmetic(
        first: &[[u16; 2]], // decide: or `[half::f16; 2]`
        second: &[[u16; 2]], // decide: or `[half::f16; 2]`
        third: &[[u16; 2]], // decide: or `[half::f16; 2]`
        out: &mut [[u16; 2]], // decide: or `[half::f16; 2]`
    );

    #[requires(threads <= first.len() && threads <= second.len() && 5 * threads <= out.len())]
    safe fn half_compare(
        first: &[[u16; 2]], // decide: or `[half::f16; 2]`
        second: &[[u16; 2]], // decide: or `[half::f16; 2]`
        out: &mut [u32],
    );

    #[requires(threads <= r#in.len() && threads <= integers.len() && threads <= wide.len() && 15 * threads <= out.len() && 11 * threads <= words.len() && threads <= longs.len())]
    safe fn half_convert(
        r#in: &[f32],
        wide: &[f64],
        integers: &[i32],
        out: &mut [u16], // decide: or `half::f16`
        words: &mut [u32],
        longs: &mut [i64],
    );

    #[requires(threads <= r#in.len() && 13 * threads <= out.len())]
    safe fn half_functions(
        r#in: &[u16], // decide: or `half::f16`
        out: &mut [u16], // decide: or `half::f16`
    );

    fn half_matvec(
        matrix: &[[u16; 2]], // decide: or `[half::f16; 2]`
        x: &[[u16; 2]], // decide: or `[half::f16; 2]`
        y: &mut [u16], // decide: or `half::f16`
        columns: i32,
    );

    #[requires(threads <= r#in.len() && block.x <= sums.len() && 2 <= pairs.len())]
    safe fn half_atomics(
        r#in: &[u16], // decide: or `half::f16`
        sums: &[Atomic<u16>], // decide: or `half::f16`
        pairs: &mut [[u16; 2]], // decide: or `[half::f16; 2]`
    );
}
