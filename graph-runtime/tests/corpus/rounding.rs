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
    fn signs(input: &[f32], wide: &[f64], out: &mut [u32], wide_out: &mut [u64]);
}

const N: usize = 512;

#[test]
fn rounding_f32_() {
    let mut trial = Trial::new("rounding_f32");
    let [a, b, c] = trial.arguments(|which| f32_arguments(which, N));
    let mut out = trial.rows::<f32>("out", N, &alike(28, Bound::Bits));
    launch!(trial, rounding_f32<<<4, 128>>>(&a, &b, &c, &mut out));
    trial.run();
}

#[test]
fn rounding_f64_() {
    let mut trial = Trial::new("rounding_f64");
    let [a, b, c] = trial.arguments(|which| f64_arguments(which, N));
    // PTX leaves the payloads of NaNs in f64 open.
    let mut out = trial.rows::<f64>("out", N, &alike(26, Bound::Number));
    launch!(trial, rounding_f64<<<4, 128>>>(&a, &b, &c, &mut out));
    trial.run();
}

#[test]
fn modifiers_() {
    let mut trial = Trial::new("modifiers");
    let [a, b, c] = trial.arguments(|which| f32_arguments(which, N));
    let mut out = trial.rows::<f32>("out", N, &alike(22, Bound::Bits));
    launch!(trial, modifiers<<<4, 128>>>(&a, &b, &c, &mut out));
    trial.run();
}

#[test]
fn signs_() {
    let mut trial = Trial::new("signs");
    let (input, wide) = (
        trial.input("in", f32_arguments(1, N)),
        trial.input("wide", f64_arguments(1, N)),
    );
    let mut out = trial.rows::<u32>("out", N, &alike(4, Bound::Bits));
    let mut wide_out = trial.rows::<u64>("wide_out", N, &alike(5, Bound::Bits));
    launch!(trial, signs<<<4, 128>>>(&input, &wide, &mut out, &mut wide_out));
    trial.run();
}
