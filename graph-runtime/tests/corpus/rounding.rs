//! `kernels/rounding.cu`

use crate::bound::{Bound, alike};
use crate::data::{f32_arguments, f64_arguments, floats, many};
use crate::trial::Trial;
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

#[test]
fn rounding_f32() {
    let mut trial = Trial::new("rounding_f32");
    let [a, b, c] = trial.arguments(|which| f32_arguments(which, N));
    let mut out = trial.rows::<f32>("out", N, &alike(28, Bound::Bits));
    launch!(trial, rounding_f32<<<4, 128>>>(&a, &b, &c, &mut out));
    trial.run();
}

#[test]
fn rounding_f64() {
    let mut trial = Trial::new("rounding_f64");
    let [a, b, c] = trial.arguments(|which| f64_arguments(which, N));
    // PTX leaves the payloads of NaNs in f64 open.
    let mut out = trial.rows::<f64>("out", N, &alike(26, Bound::Number));
    launch!(trial, rounding_f64<<<4, 128>>>(&a, &b, &c, &mut out));
    trial.run();
}

#[test]
fn modifiers() {
    let mut trial = Trial::new("modifiers");
    let [a, b, c] = trial.arguments(|which| f32_arguments(which, N));
    let mut bounds = alike(22, Bound::Bits);
    bounds[20] = ("abs.ftz: PTX leaves its NaN open", Bound::Number);
    bounds[21] = ("neg.ftz: likewise", Bound::Number);
    let mut out = trial.rows::<f32>("out", N, &bounds);
    launch!(trial, modifiers<<<4, 128>>>(&a, &b, &c, &mut out));
    trial.run();
}

#[test]
fn signs() {
    let mut trial = Trial::new("signs");
    let (input, wide) = (
        trial.input("in", f32_arguments(1, N)),
        trial.input("wide", f64_arguments(1, N)),
    );
    // The copy keeps its bits; which NaN `abs` and `neg` make of one PTX leaves open.
    let mut out = trial.rows::<f32>(
        "out",
        N,
        &[("copy", Bound::Bits), ("abs", Bound::Number), ("neg", Bound::Number)],
    );
    let mut wide_out = trial.rows::<f64>("wide_out", N, &alike(6, Bound::Number));
    launch!(trial, signs<<<4, 128>>>(&input, &wide, &mut out, &mut wide_out));
    trial.run();
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
    let mut trial = Trial::new("contracted");
    let (input, wide) = (
        trial.input("in", floats(291, 27 * N, 1.0, 2.0)),
        trial.input("wide", wide),
    );
    let mut out = trial.rows::<f32>("out", N, &rows(2f64.powi(-22)));
    let mut wide_out = trial.rows::<f64>("wide_out", N, &rows(2f64.powi(-51)));
    launch!(trial, contracted<<<2, 64>>>(&input, &wide, &mut out, &mut wide_out));
    trial.run();
}
