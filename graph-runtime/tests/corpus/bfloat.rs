//! `kernels/bfloat.cu`

use crate::bound::{Bf16, Bound, alike, signs_open};
use crate::data::{bf16, bf16_arguments, f32_arguments, f64_arguments, floats, i32_arguments, many};
use crate::trial::Trial;
use graph_runtime::cuda_kernels;

#[cuda_kernels("tests/corpus/kernels/bfloat.ptx")]
unsafe extern "C" {
    fn bfloat_arithmetic(a: &[Bf16], b: &[Bf16], c: &[Bf16], out: &mut [Bf16]);
    fn bfloat2_arithmetic(a: &[Bf16], b: &[Bf16], c: &[Bf16], out: &mut [Bf16], masks: &mut [u32]);
    fn bfloat_convert(
        input: &[f32],
        wide: &[f64],
        integers: &[i32],
        out: &mut [Bf16],
        words: &mut [u32],
        floats: &mut [f32],
    );
    fn bfloat_functions(input: &[Bf16], out: &mut [Bf16]);
    fn adam(weights: &mut [Bf16], gradients: &[Bf16], first: &mut [f32], second: &mut [f32], rate: f32, step: i32);
    fn bfloat_atomics(input: &[Bf16], sums: &mut [Bf16], pairs: &mut [Bf16]);
}

const N: usize = 384;

#[test]
fn bfloat_arithmetic() {
    let mut trial = Trial::new("bfloat_arithmetic");
    let [a, b, c] = trial.arguments(|which| bf16_arguments(which, N));
    let mut out = trial.rows::<Bf16>("out", N, &signs_open(13, 10));
    launch!(trial, bfloat_arithmetic<<<3, 128>>>(&a, &b, &c, &mut out));
    trial.run();
}

#[test]
fn bfloat2_arithmetic() {
    let mut trial = Trial::new("bfloat2_arithmetic");
    let [a, b, c] = trial.arguments(|which| bf16_arguments(which, N));
    let mut out = trial.rows::<Bf16>("out", N, &signs_open(12, 8));
    let mut masks = trial.rows::<u32>("masks", N / 2, &alike(2, Bound::Bits));
    launch!(trial, bfloat2_arithmetic<<<3, 64>>>(&a, &b, &c, &mut out, &mut masks));
    trial.run();
}

#[test]
fn bfloat_convert() {
    let mut trial = Trial::new("bfloat_convert");
    let (input, wide) = (
        trial.input("in", f32_arguments(1, N)),
        trial.input("wide", f64_arguments(1, N)),
    );
    let integers = trial.input("integers", i32_arguments(1, N));
    let mut bounds = alike(12, Bound::Bits);
    // `cuda_bf16.h` makes it of bits of the NaN in f32, whose payload PTX leaves open.
    bounds[4] = ("__double2bfloat16", Bound::Number);
    let mut out = trial.rows::<Bf16>("out", N, &bounds);
    let mut words = trial.rows::<u32>("words", N, &alike(5, Bound::Bits));
    let mut floats = trial.rows::<f32>(
        "floats",
        N,
        &[("cvt.f32.bf16", Bound::Number), ("cvt.rna.tf32", Bound::Number)],
    );
    launch!(trial, bfloat_convert<<<3, 128>>>(&input, &wide, &integers, &mut out, &mut words, &mut floats));
    trial.run();
}

#[test]
fn bfloat_functions() {
    let mut trial = Trial::new("bfloat_functions");
    let input = trial.input("in", bf16_arguments(1, N));
    // `cuda_bf16.h` computes these by approximate f32 instructions, whose errors are far below a bfloat16's ulp, so
    // that the two devices' roundings are the same or neighbours.
    let ulp = Bound::Ulps(1);
    let mut out = trial.rows::<Bf16>(
        "out",
        N,
        &[
            ("hsqrt", ulp),
            ("hrsqrt", ulp),
            ("hrcp", ulp),
            ("hexp", ulp),
            ("hexp2", ulp),
            ("hlog", ulp),
            ("hlog2", ulp),
            ("hsin", ulp),
            ("hcos", ulp),
            // PTX ISA, tanh: absolute error 2^-8.
            ("tanh.approx.bf16", Bound::Absolute(3.91e-3)),
            // PTX ISA, ex2: relative error 2^-7.
            ("ex2.approx.ftz.bf16", Bound::Relative(7.82e-3)),
        ],
    );
    launch!(trial, bfloat_functions<<<3, 128>>>(&input, &mut out));
    trial.run();
}

#[test]
fn adam() {
    let n = 128;
    let eighths = |seed| many(seed, n, |random| bf16((random.u32_below(65) as f32 - 32.0) / 32.0));
    let mut trial = Trial::new("adam");
    // `powf` has approximate instructions in it; the rounding to bfloat16 hides what they leave but for a tie.
    let mut weights = trial.changed("weights", eighths(131), Bound::Ulps(1));
    let gradients = trial.input("gradients", eighths(132));
    let mut first = trial.changed("first", floats(133, n, -0.1, 0.1), Bound::Bits);
    let mut second = trial.changed("second", floats(134, n, 0.0, 0.1), Bound::Bits);
    launch!(trial, adam<<<2, 64>>>(&mut weights, &gradients, &mut first, &mut second, 1e-2, 3));
    trial.run();
}

#[test]
fn bfloat_atomics() {
    let numbers: Vec<f32> = many(135, 32, |random| random.u32_below(17) as f32 - 8.0);
    let strided = |start: usize, step: usize| numbers.iter().skip(start).step_by(step).sum::<f32>();
    let sums = (0..4).map(|k| bf16(strided(k, 4))).collect();
    let pairs = (0..2)
        .flat_map(|k| [bf16(strided(k, 2)), bf16(-strided(k, 2))])
        .collect();
    let mut trial = Trial::new("bfloat_atomics");
    let input = trial.input("in", numbers.iter().map(|&number| bf16(number)).collect());
    let mut sums = trial.expect("sums", sums, Bound::Bits);
    let mut pairs = trial.expect("pairs", pairs, Bound::Bits);
    launch!(trial, bfloat_atomics<<<1, 32>>>(&input, &mut sums, &mut pairs));
    trial.run();
}
