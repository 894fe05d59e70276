//! `kernels/half.cu`

use crate::bound::{Bound, F16, alike, signs_open};
use crate::data::{f16, f16_arguments, f32_arguments, f64_arguments, floats, i32_arguments, many};
use crate::trial::Trial;
use graph_runtime::cuda_kernels;

#[cuda_kernels("tests/corpus/kernels/half.ptx")]
unsafe extern "C" {
    fn half_arithmetic(a: &[F16], b: &[F16], c: &[F16], out: &mut [F16]);
    fn half2_arithmetic(a: &[F16], b: &[F16], c: &[F16], out: &mut [F16]);
    fn half_compare(a: &[F16], b: &[F16], out: &mut [u32]);
    fn half_convert(
        input: &[f32],
        wide: &[f64],
        integers: &[i32],
        out: &mut [F16],
        words: &mut [u32],
        longs: &mut [i64],
    );
    fn half_functions(input: &[F16], out: &mut [F16]);
    fn half_matvec(matrix: &[F16], x: &[F16], y: &mut [F16], columns: i32);
    fn half_atomics(input: &[F16], sums: &mut [F16], pairs: &mut [F16]);
}

const N: usize = 384;

#[test]
fn half_arithmetic() {
    let mut trial = Trial::new("half_arithmetic");
    let [a, b, c] = trial.arguments(|which| f16_arguments(which, N));
    let mut out = trial.rows::<F16>("out", N, &signs_open(17, 13));
    launch!(trial, half_arithmetic<<<3, 128>>>(&a, &b, &c, &mut out));
    trial.run();
}

#[test]
fn half2_arithmetic() {
    let mut trial = Trial::new("half2_arithmetic");
    let [a, b, c] = trial.arguments(|which| f16_arguments(which, N));
    let mut out = trial.rows::<F16>("out", N, &signs_open(16, 9));
    launch!(trial, half2_arithmetic<<<3, 64>>>(&a, &b, &c, &mut out));
    trial.run();
}

#[test]
fn half_compare() {
    let mut trial = Trial::new("half_compare");
    let a = trial.input("a", f16_arguments(0, N));
    let b = trial.input("b", f16_arguments(1, N));
    let mut out = trial.rows::<u32>("out", N / 2, &alike(5, Bound::Bits));
    launch!(trial, half_compare<<<3, 64>>>(&a, &b, &mut out));
    trial.run();
}

#[test]
fn half_convert() {
    let mut numbers = f32_arguments(1, N);
    numbers[..64].copy_from_slice(&floats(121, 64, -7e4, 7e4));
    numbers[64..96].copy_from_slice(&floats(122, 32, -1e-5, 1e-5));
    let wide = numbers.iter().zip(f64_arguments(1, N)).enumerate();
    let wide = wide
        .map(|(i, (&near, any))| if i < 192 { f64::from(near) * 1.000_000_01 } else { any })
        .collect();
    let mut trial = Trial::new("half_convert");
    let (numbers, wide) = (trial.input("in", numbers), trial.input("wide", wide));
    let integers = trial.input("integers", i32_arguments(1, N));
    let mut bounds = alike(15, Bound::Bits);
    bounds[4] = (
        "__double2half: PTX leaves the payload of a NaN in f64 open",
        Bound::Number,
    );
    let mut out = trial.rows::<F16>("out", N, &bounds);
    let mut words = trial.rows::<u32>("words", N, &alike(11, Bound::Bits));
    let mut longs = trial.output::<i64>("longs", N, Bound::Bits);
    launch!(trial, half_convert<<<3, 128>>>(&numbers, &wide, &integers, &mut out, &mut words, &mut longs));
    trial.run();
}

#[test]
fn half_functions() {
    let mut trial = Trial::new("half_functions");
    let input = trial.input("in", f16_arguments(1, N));
    // `cuda_fp16.h` computes these by approximate f32 instructions, whose errors are below an eighth of a half's ulp,
    // so that the two devices' roundings are the same or neighbours.
    let ulp = Bound::Ulps(1);
    let mut out = trial.rows::<F16>(
        "out",
        N,
        &[
            ("hsqrt", ulp),
            ("hrsqrt", ulp),
            ("hrcp", ulp),
            ("hexp", ulp),
            ("hexp2", ulp),
            ("hexp10", ulp),
            ("hlog", ulp),
            ("hlog2", ulp),
            ("hlog10", ulp),
            ("hsin", ulp),
            ("hcos", ulp),
            // PTX ISA, tanh: absolute error 2^-10.987.
            ("tanh.approx.f16", Bound::Absolute(4.92e-4)),
            // PTX ISA, ex2: relative error 2^-9.9; below the normal numbers that is less than their spacing.
            ("ex2.approx.f16", Bound::Either(5.97e-8, 1.05e-3)),
        ],
    );
    launch!(trial, half_functions<<<3, 128>>>(&input, &mut out));
    trial.run();
}

#[test]
fn half_matvec() {
    let (rows, columns) = (8, 256);
    // Small eighths: products and sums in half are rounded, sums in float are exact.
    let eighths = |seed, count| many(seed, count, |random| f16((random.u32_below(33) as f32 - 16.0) / 8.0));
    let mut trial = Trial::new("half_matvec");
    let matrix = trial.input("matrix", eighths(123, rows * columns));
    let x = trial.input("x", eighths(124, columns));
    let mut y = trial.output::<F16>("y", 2 * rows, Bound::Bits);
    launch!(trial, half_matvec<<<8, 32>>>(&matrix, &x, &mut y, columns as i32));
    trial.run();
}

#[test]
fn half_atomics() {
    let numbers: Vec<f32> = many(125, 64, |random| (random.u32_below(17) as f32 - 8.0) / 4.0);
    let sum = |numbers: &[f32]| numbers.iter().sum::<f32>();
    let quarter = |k: usize| f16(numbers.iter().skip(k).step_by(4).sum());
    let (sums, all) = ((0..4).map(quarter).collect(), sum(&numbers));
    let mut trial = Trial::new("half_atomics");
    let input = trial.input("in", numbers.iter().map(|&number| f16(number)).collect());
    let mut sums = trial.expect("sums", sums, Bound::Bits);
    let mut pairs = trial.expect("pairs", vec![f16(all), f16(64.0), f16(all), f16(-all)], Bound::Bits);
    launch!(trial, half_atomics<<<2, 32>>>(&input, &mut sums, &mut pairs));
    trial.run();
}
