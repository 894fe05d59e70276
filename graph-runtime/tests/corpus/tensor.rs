//! `kernels/tensor.cu`. The order and the precision in which tensor cores add are not documented, so most of these
//! products have sums that are exact in any order.

use crate::bound::{Bound, F16};
use crate::data::{f16, floats, many};
use crate::trial::Trial;
use graph_runtime::cuda_kernels;

#[cuda_kernels("tests/corpus/kernels/tensor.ptx")]
unsafe extern "C" {
    fn mma_f16(a: &[F16], b: &[F16], c: &mut [f32]);
    fn mma_f16_sums(a: &[u32], b: &[u32], d: &mut [u32]);
    fn mma_kinds(bfloats: &[u32], floats: &[f32], bytes: &[u32], sums: &mut [f32], integers: &mut [i32]);
}

#[test]
fn mma_f16() {
    // Quarters from -4 to 4: sums of 16 products are multiples of a sixteenth, exact in f32.
    let quarters = |seed, count| many(seed, count, |random| (random.u32_below(33) as f32 - 16.0) / 4.0);
    let (a, b, c) = (quarters(221, 3 * 256), quarters(222, 3 * 128), quarters(223, 3 * 128));
    let element = |i: usize| {
        let (tile, row, column) = (i / 128, i % 128 / 8, i % 8);
        (0..16).fold(c[i], |sum, k| {
            sum + a[tile * 256 + row * 16 + k] * b[tile * 128 + k * 8 + column]
        })
    };
    let expected = (0..3 * 128).map(element).collect();
    let halves = |numbers: &[f32]| numbers.iter().map(|&number| f16(number)).collect();
    let mut trial = Trial::new("mma_f16");
    let (a, b) = (trial.input("a", halves(&a)), trial.input("b", halves(&b)));
    let mut c = trial.changed("c", c, Bound::Bits);
    trial.check(&c, expected, Bound::Bits);
    launch!(trial, mma_f16<<<3, 32>>>(&a, &b, &mut c));
    trial.run();
}

#[test]
fn mma_f16_sums() {
    // Whole numbers from -4 to 4.
    let whole = |random: &mut crate::data::Random| u32::from(f16(random.u32_below(9) as f32 - 4.0).0);
    let pairs = |seed, count| many(seed, count, |random| whole(random) << 16 | whole(random));
    trial!(mma_f16_sums<<<1, 32>>>(a: pairs(224, 32 * 6), b: pairs(225, 32 * 3) => d: output::<u32>(64, Bound::Bits)));
}

#[test]
fn mma_kinds() {
    let whole = |random: &mut crate::data::Random| (random.u32_below(17) as f32 - 8.0).to_bits() >> 16;
    let pairs = many(226, 32 * 9, |random| whole(random) << 16 | whole(random));
    let mut trial = Trial::new("mma_kinds");
    let bfloats = trial.input("bfloats", pairs);
    let floats = trial.input("floats", floats(227, 32 * 9, -1.0, 1.0));
    let bytes = trial.input("bytes", many(228, 32 * 6, |random| random.u32()));
    let mut sums = trial.rows::<f32>(
        "sums",
        128,
        &[
            ("bf16, exact", Bound::Bits),
            // Twelve products of two TF32 numbers below 1 and a start up to 4, added in at least the precision of f32
            // with truncation: an ulp of 2^-21 (the sums are below 16) for each addition.
            ("tf32", Bound::Absolute(13.0 * 9.6e-7)),
        ],
    );
    let mut integers = trial.output::<i32>("integers", 128, Bound::Bits);
    launch!(trial, mma_kinds<<<1, 32>>>(&bfloats, &floats, &bytes, &mut sums, &mut integers));
    trial.run();
}
