//! `kernels/approximate.cu`. The bounds are those of the PTX ISA 8.4, section 9.7.3, of the instruction named.

use crate::bound::{Bound, grouped};
use crate::data::{f32_arguments, f64_arguments, floats};
use graph_runtime::cuda_kernels;

#[cuda_kernels("tests/corpus/kernels/approximate.ptx")]
unsafe extern "C" {
    fn approximate(a: &[f32], b: &[f32], out: &mut [f32], n: u32);
    fn approximate_moderate(a: &[f32], b: &[f32], out: &mut [f32], n: u32);
    fn intrinsics(a: &[f32], b: &[f32], out: &mut [f32], n: u32);
    fn approximate_f64(input: &[f64], out: &mut [f64], n: u32);
}

const N: usize = 512;

/// `sin` and `cos`: 2^-20.5 in [-2 pi, 2 pi]; `lg2`: 2^-22 between 0.5 and 2, else a relative error of 2^-22.
const SINE: Bound = Bound::Absolute(6.75e-7);
const LG2: Bound = Bound::Either(2.39e-7, 2.39e-7);
/// `tanh`: a relative error of 2^-11.
const TANH: Bound = Bound::Relative(4.89e-4);
/// `sqrt`: a relative error of 2^-23; `rsqrt`: 2^-22.9.
const SQRT: Bound = Bound::Relative(1.2e-7);
const RSQRT: Bound = Bound::Relative(1.28e-7);
const EX2: Bound = Bound::Ulps(2);
const DIV: Bound = Bound::Ulps(2);
const RCP: Bound = Bound::Ulps(1);

#[test]
fn approximate() {
    let rows = grouped(&[
        ("rcp.approx | rcp.approx.ftz", RCP),
        ("sqrt.approx | sqrt.approx.ftz", SQRT),
        ("rsqrt.approx | rsqrt.approx.ftz", RSQRT),
        ("div.full | div.full.ftz", DIV),
        ("tanh.approx", TANH),
        ("ex2.approx | ex2.approx.ftz", EX2),
        ("lg2.approx | lg2.approx.ftz", LG2),
    ]);
    trial!(approximate<<<4, 128>>>(
        a: f32_arguments(0, N), b: f32_arguments(1, N) => out: rows::<f32>(N, &rows); N as u32
    ));
}

#[test]
fn approximate_moderate() {
    let turn = 628.0 / 100.0; // a little less than one
    let rows = grouped(&[
        ("sin.approx | cos.approx | sin.approx.ftz | cos.approx.ftz", SINE),
        ("div.approx | div.approx.ftz", DIV),
        ("ex2.approx", EX2),
        ("tanh.approx", TANH),
        ("lg2.approx", LG2),
    ]);
    trial!(approximate_moderate<<<4, 128>>>(
        a: floats(171, N, -turn, turn), b: floats(172, N, -100.0, 100.0) => out: rows::<f32>(N, &rows); N as u32
    ));
}

#[test]
fn intrinsics() {
    // CUDA C++ Programming Guide, section 13.2.
    let rows = grouped(&[
        ("__sinf | __cosf", SINE),
        ("__sincosf", Bound::Absolute(2.0 * 6.75e-7)),
        ("__expf", Bound::Ulps(2 + 3)),
        ("__exp10f", Bound::Ulps(2 + 9)),
        ("__logf | __log2f | __log10f", LG2),
        ("__fdividef", DIV),
        ("rsqrtf", RSQRT),
        ("__frsqrt_rn", Bound::Bits),
        // exp2(y log2 x), with |y log2 x| up to 30 x 1.6 and beyond for small x.
        ("__powf", Bound::Relative(30.0 * 10.0 * 2.39e-7)),
    ]);
    trial!(intrinsics<<<4, 128>>>(
        a: floats(173, N, -3.1, 3.1), b: floats(174, N, -30.0, 30.0) => out: rows::<f32>(N, &rows); N as u32
    ));
}

#[test]
fn approximate_f64() {
    let n = 256 + 64;
    let rows = grouped(&[
        // A "gross approximation" without a bound, of and in the upper word alone, 20 bits of fraction: two units of
        // the last.
        ("rcp.approx.ftz.f64 | rsqrt.approx.ftz.f64", Bound::Relative(1.91e-6)),
        // The instruction that `rsqrt` is made of, which is within 1 ulp (CUDA C++ Programming Guide, section 13.1).
        ("rsqrt.approx.f64", Bound::Ulps(1)),
    ]);
    trial!(approximate_f64<<<5, 64>>>(input: f64_arguments(1, n) => out: rows::<f64>(n, &rows); n as u32));
}
