//! `kernels/fast_math.cu`

use crate::bound::{Bound, grouped};
use crate::data::{f32_arguments, floats};
use graph_runtime::cuda_kernels;

#[cuda_kernels("tests/corpus/kernels/fast_math.ptx")]
unsafe extern "C" {
    fn fast(a: &[f32], b: &[f32], out: &mut [f32], n: u32);
}

#[test]
fn fast() {
    let n = 384;
    let (mut a, mut b) = (floats(181, n, -3.1, 3.1), floats(182, n, -3.1, 3.1));
    // Subnormal and special numbers, for what is not approximate.
    a[..256].copy_from_slice(&f32_arguments(0, 256));
    b[..256].copy_from_slice(&f32_arguments(1, 256));
    // PTX ISA, section 9.7.3, of the instruction named.
    let rows = grouped(&[
        ("div.approx.ftz: 2 ulp", Bound::Ulps(2)),
        ("sqrt.approx.ftz: 2^-23", Bound::Relative(1.2e-7)),
        (
            "sin.approx.ftz and cos.approx.ftz: 2^-20.5 each",
            Bound::Absolute(2.0 * 6.75e-7),
        ),
        ("ex2.approx.ftz of x log2 e: 2 ulp", Bound::Ulps(2)),
        ("lg2.approx.ftz: 2^-22", Bound::Either(2.39e-7, 2.39e-7)),
        ("fma | sub | max | select", Bound::Bits),
    ]);
    trial!(fast<<<3, 128>>>(a: a, b: b => out: rows::<f32>(n, &rows); n as u32));
}
