//! `kernels/rounding.cu`

use crate::bound::{Bound, alike, grouped};
use crate::data::{f32_arguments, f64_arguments, floats, many};
use graph_runtime::cuda_kernels;

#[cuda_kernels("tests/corpus/kernels/rounding.ptx")]
unsafe extern "C" {
    fn rounding_f32(a: &[f32], b: &[f32], c: &[f32], out: &mut [f32]);
    fn rounding_f64(a: &[f64], b: &[f64], c: &[f64], out: &mut [f64]);
    fn modifiers(a: &[f32], b: &[f32], c: &[f32], out: &mut [f32]);
    fn signs(input: &[f32], wide: &[f64], out: &mut [f32], wide_out: &mut [f64]);
    fn contracted(input: &[f32], wide: &[f64], out: &mut [f32], wide_out: &mut [f64]);
}

const N: usize = 512;

trials! {
    rounding_f32<<<4, 128>>>(
        a: f32_arguments(0, N), b: f32_arguments(1, N), c: f32_arguments(2, N)
        => out: rows::<f32>(N, &alike(28, Bound::Bits))
    );
    // PTX leaves the payloads of NaNs in f64 open.
    rounding_f64<<<4, 128>>>(
        a: f64_arguments(0, N), b: f64_arguments(1, N), c: f64_arguments(2, N)
        => out: rows::<f64>(N, &alike(26, Bound::Number))
    );
    // The copy keeps its bits; which NaN `abs` and `neg` make of one PTX leaves open.
    signs<<<4, 128>>>(
        input: f32_arguments(1, N), wide: f64_arguments(1, N)
        => out: rows::<f32>(N, &[("copy", Bound::Bits), ("abs", Bound::Number), ("neg", Bound::Number)]),
        wide_out: rows::<f64>(N, &alike(6, Bound::Number))
    );
}

#[test]
fn modifiers() {
    let rows = [
        alike(20, Bound::Bits),
        grouped(&[("abs.ftz | neg.ftz: PTX leaves their NaN open", Bound::Number)]),
    ];
    trial!(modifiers<<<4, 128>>>(
        a: f32_arguments(0, N), b: f32_arguments(1, N), c: f32_arguments(2, N) => out: rows::<f32>(N, &rows.concat())
    ));
}

#[test]
fn contracted() {
    const N: usize = 128;
    // PTX ISA, mul: sequences of `mul` and `add` or `sub` with no rounding modifiers may be fused, as ptxas does
    // wherever all uses of a product can be. Products are below 4: each changes the result by half an ulp, 2^-23 and
    // 2^-52, and the result's own rounding, below 4 by as much, below 8 by twice that, on both sides.
    let rows = |ulp: f64| {
        let bound = |roundings: f64| Bound::Absolute(roundings * ulp / 2.0);
        [
            ("a b - c d", bound(3.0)),
            ("a b - c", bound(2.0)),
            ("c - a b", bound(2.0)),
            ("p - c, where p is used twice", bound(2.0)),
            ("p + c, where p is used twice", bound(4.0)),
            ("p - c d, where p is used twice", bound(3.0)),
            ("p", Bound::Bits),
            ("p - c in another block", bound(2.0)),
            ("-(a b) - c", bound(4.0)),
            ("a b - c d - a d", bound(5.0)),
        ]
    };
    let wide = many(292, 27 * N, |random| random.f64(1.0, 2.0));
    trial!(contracted<<<2, 64>>>(
        input: floats(291, 27 * N, 1.0, 2.0), wide: wide
        => out: rows::<f32>(N, &rows(2f64.powi(-22))), wide_out: rows::<f64>(N, &rows(2f64.powi(-51)))
    ));
}
