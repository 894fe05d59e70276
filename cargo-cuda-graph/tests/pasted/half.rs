use graph_runtime::{Atomic, cuda_kernels};

#[cuda_kernels("../graph-runtime/tests/corpus/kernels/half.ptx")]
unsafe extern "C" {
    // Graphs launch these by `unsafe`. A `safe fn` needs none: write it if `#[requires(..)]`s, such as
    // `#[requires(threads <= data.len())]`, keep the kernel within its memory for all arguments.

    fn half_arithmetic(
        first: &[u16], // decide: or `half::f16`
        second: &[u16], // decide: or `half::f16`
        third: &[u16], // decide: or `half::f16`
        out: &mut [u16], // decide: or `half::f16`
    );

    fn half2_arithmetic(
        first: &[[u16; 2]], // decide: or `[half::f16; 2]`
        second: &[[u16; 2]], // decide: or `[half::f16; 2]`
        third: &[[u16; 2]], // decide: or `[half::f16; 2]`
        out: &mut [[u16; 2]], // decide: or `[half::f16; 2]`
    );

    fn half_compare(
        first: &[[u16; 2]], // decide: or `[half::f16; 2]`
        second: &[[u16; 2]], // decide: or `[half::f16; 2]`
        out: &mut [u32],
    );

    fn half_convert(
        r#in: &[f32],
        wide: &[f64],
        integers: &[i32],
        out: &mut [u16], // decide: or `half::f16`
        words: &mut [u32],
        longs: &mut [i64],
    );

    fn half_functions(
        r#in: &[u16], // decide: or `half::f16`
        out: &mut [u16], // decide: or `half::f16`
    );

    fn half_matvec(
        matrix: &[[u16; 2]], // decide: or `[half::f16; 2]`
        x: &[[u16; 2]], // decide: or `[half::f16; 2]`
        y: &mut [u16], // decide: or `half::f16`
        columns: i32,
    );

    fn half_atomics(
        r#in: &[u16], // decide: or `half::f16`
        sums: &[Atomic<u16>], // decide: or `half::f16`
        pairs: &mut [[u16; 2]], // decide: or `[half::f16; 2]`
    );
}
