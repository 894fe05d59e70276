//! `kernels/half.cu`

use crate::bound::{Bound, F16, alike, grouped, signs_open};
use crate::data::{f16, f16_arguments, f32_arguments, f64_arguments, floats, i32_arguments, many};
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

trials! {
    half_arithmetic<<<3, 128>>>(
        a: f16_arguments(0, N), b: f16_arguments(1, N), c: f16_arguments(2, N)
        => out: rows::<F16>(N, &signs_open(17, 13))
    );
    half2_arithmetic<<<3, 64>>>(
        a: f16_arguments(0, N), b: f16_arguments(1, N), c: f16_arguments(2, N)
        => out: rows::<F16>(N, &signs_open(16, 9))
    );
    half_compare<<<3, 64>>>(
        a: f16_arguments(0, N), b: f16_arguments(1, N) => out: rows::<u32>(N / 2, &alike(5, Bound::Bits))
    );
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
    let mut bounds = alike(15, Bound::Bits);
    bounds[4].1 = Bound::Number; // `__double2half`: PTX leaves the payload of a NaN in f64 open
    trial!(half_convert<<<3, 128>>>(
        numbers: numbers, wide: wide, integers: i32_arguments(1, N)
        => out: rows::<F16>(N, &bounds), words: rows::<u32>(N, &alike(11, Bound::Bits)),
        longs: output::<i64>(N, Bound::Bits)
    ));
}

#[test]
fn half_functions() {
    let rows = grouped(&[
        // `cuda_fp16.h` computes these by approximate f32 instructions, whose errors are below an eighth of a half's
        // ulp, so that the two devices' roundings are the same or neighbours.
        (
            "hsqrt | hrsqrt | hrcp | hexp | hexp2 | hexp10 | hlog | hlog2 | hlog10 | hsin | hcos",
            Bound::Ulps(1),
        ),
        // PTX ISA, tanh: absolute error 2^-10.987.
        ("tanh.approx.f16", Bound::Absolute(4.92e-4)),
        // PTX ISA, ex2: relative error 2^-9.9; below the normal numbers that is less than their spacing.
        ("ex2.approx.f16", Bound::Either(5.97e-8, 1.05e-3)),
    ]);
    trial!(half_functions<<<3, 128>>>(input: f16_arguments(1, N) => out: rows::<F16>(N, &rows)));
}

#[test]
fn half_matvec() {
    let (rows, columns) = (8, 256);
    // Small eighths: products and sums in half are rounded, sums in float are exact.
    let eighths = |seed, count| many(seed, count, |random| f16((random.u32_below(33) as f32 - 16.0) / 8.0));
    trial!(half_matvec<<<8, 32>>>(
        matrix: eighths(123, rows * columns), x: eighths(124, columns)
        => y: output::<F16>(2 * rows, Bound::Bits); columns as i32
    ));
}

#[test]
fn half_atomics() {
    let numbers: Vec<f32> = many(125, 64, |random| (random.u32_below(17) as f32 - 8.0) / 4.0);
    let sum = |numbers: &[f32]| numbers.iter().sum::<f32>();
    let quarter = |k: usize| f16(numbers.iter().skip(k).step_by(4).sum());
    let (sums, all) = ((0..4).map(quarter).collect(), sum(&numbers));
    trial!(half_atomics<<<2, 32>>>(
        input: numbers.iter().map(|&number| f16(number)).collect()
        => sums: expect(sums, Bound::Bits), pairs: expect(vec![f16(all), f16(64.0), f16(all), f16(-all)], Bound::Bits)
    ));
}
