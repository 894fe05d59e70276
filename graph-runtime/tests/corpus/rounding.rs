//! `kernels/rounding.cu`

use crate::bound::{Bound, alike};
use crate::data::{f32_arguments, f64_arguments};
use crate::trial::Trial;
use graph_runtime::cuda_kernels;

#[cuda_kernels("tests/corpus/kernels/rounding.ptx")]
unsafe extern "C" {
    fn rounding_f32(a: &[f32], b: &[f32], c: &[f32], out: &mut [f32]);
    fn rounding_f64(a: &[f64], b: &[f64], c: &[f64], out: &mut [f64]);
    fn modifiers(a: &[f32], b: &[f32], c: &[f32], out: &mut [f32]);
    fn signs(input: &[f32], wide: &[f64], out: &mut [f32], wide_out: &mut [f64]);
    fn contracted(a: &[f32], b: &[f32], c: &[f32], out: &mut [f32]);
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
    let numbers = |which| crate::data::floats(291 + which as u64, N, 1.0, 2.0);
    let mut trial = Trial::new("contracted");
    let [a, b, c] = trial.arguments(numbers);
    // PTX ISA, mul: sequences of `mul` and `add` or `sub` with no rounding modifiers may be fused. The product is below 4, half an ulp of it 2^-23,
    // and the two of the first row may trade places.
    let mut out = trial.rows::<f32>(
        "out",
        N,
        &[
            ("a b - c c", Bound::Absolute(2.0 * 1.2e-7)),
            ("a b - c", Bound::Absolute(1.2e-7)),
            ("a b + c", Bound::Absolute(2.4e-7)),
        ],
    );
    launch!(trial, contracted<<<4, 128>>>(&a, &b, &c, &mut out));
    trial.run();
}
