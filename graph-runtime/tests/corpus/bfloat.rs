//! `kernels/bfloat.cu`

use crate::bound::{Bf16, Bound, alike, grouped, signs_open};
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

trials! {
    bfloat_arithmetic<<<3, 128>>>(
        a: bf16_arguments(0, N), b: bf16_arguments(1, N), c: bf16_arguments(2, N)
        => out: rows::<Bf16>(N, &signs_open(13, 10))
    );
    bfloat2_arithmetic<<<3, 64>>>(
        a: bf16_arguments(0, N), b: bf16_arguments(1, N), c: bf16_arguments(2, N)
        => out: rows::<Bf16>(N, &signs_open(12, 8)), masks: rows::<u32>(N / 2, &alike(2, Bound::Bits))
    );
}

#[test]
fn bfloat_convert() {
    let mut bounds = alike(12, Bound::Bits);
    // `cuda_bf16.h` makes it of bits of the NaN in f32, whose payload PTX leaves open.
    bounds[4] = ("__double2bfloat16", Bound::Number);
    trial!(bfloat_convert<<<3, 128>>>(
        input: f32_arguments(1, N), wide: f64_arguments(1, N), integers: i32_arguments(1, N)
        => out: rows::<Bf16>(N, &bounds), words: rows::<u32>(N, &alike(5, Bound::Bits)),
        floats: rows::<f32>(N, &grouped(&[("cvt.f32.bf16 | cvt.rna.tf32", Bound::Number)]))
    ));
}

#[test]
fn bfloat_functions() {
    let rows = grouped(&[
        // `cuda_bf16.h` computes these by approximate f32 instructions, whose errors are far below a bfloat16's ulp, so
        // that the two devices' roundings are the same or neighbours.
        (
            "hsqrt | hrsqrt | hrcp | hexp | hexp2 | hlog | hlog2 | hsin | hcos",
            Bound::Ulps(1),
        ),
        // PTX ISA, tanh: absolute error 2^-8.
        ("tanh.approx.bf16", Bound::Absolute(3.91e-3)),
        // PTX ISA, ex2: relative error 2^-7.
        ("ex2.approx.ftz.bf16", Bound::Relative(7.82e-3)),
    ]);
    trial!(bfloat_functions<<<3, 128>>>(input: bf16_arguments(1, N) => out: rows::<Bf16>(N, &rows)));
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
    trial!(bfloat_atomics<<<1, 32>>>(
        input: numbers.iter().map(|&number| bf16(number)).collect()
        => sums: expect(sums, Bound::Bits), pairs: expect(pairs, Bound::Bits)
    ));
}
