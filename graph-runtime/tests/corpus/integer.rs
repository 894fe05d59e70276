//! `kernels/integer.cu`

use crate::bound::{Bound, alike};
use crate::data::{many, u32_arguments};
use crate::trial::Trial;
use graph_runtime::cuda_kernels;

#[cuda_kernels("tests/corpus/kernels/integer.ptx")]
unsafe extern "C" {
    fn bits(input: &[u32], out: &mut [u32]);
    fn fields(a: &[u32], b: &[u32], c: &[u32], out: &mut [u32]);
    fn multiply_divide(a: &[u32], b: &[u32], c: &[u32], out: &mut [u32]);
    fn comparisons(a: &[u32], b: &[u32], out: &mut [u32]);
    fn carries(a: &[u32], b: &[u32], out: &mut [u32]);
    fn bytes_and_video(a: &[u32], b: &[u32], c: &[u32], out: &mut [u32]);
}

const N: usize = 384;

trials! {
    bits<<<3, 128>>>(input: u32_arguments(1, N) => out: rows::<u32>(N, &alike(20, Bound::Bits)));
    fields<<<3, 128>>>(
        a: u32_arguments(0, N), b: u32_arguments(1, N), c: u32_arguments(2, N)
        => out: rows::<u32>(N, &alike(32, Bound::Bits))
    );
    multiply_divide<<<3, 128>>>(
        a: u32_arguments(0, N), b: u32_arguments(1, N), c: u32_arguments(2, N)
        => out: rows::<u32>(N, &alike(44, Bound::Bits))
    );
    bytes_and_video<<<3, 128>>>(
        a: u32_arguments(0, N), b: u32_arguments(1, N), c: u32_arguments(2, N)
        => out: rows::<u32>(N, &alike(29, Bound::Bits))
    );
}

#[test]
fn comparisons() {
    let floats = |which| {
        crate::data::f32_arguments(which, N)
            .into_iter()
            .map(f32::to_bits)
            .collect::<Vec<_>>()
    };
    let words = |which: usize| [u32_arguments(which, N), floats(which)].concat();
    trial!(comparisons<<<6, 128>>>(a: words(0), b: words(1) => out: rows::<u32>(2 * N, &alike(11, Bound::Bits))));
}

#[test]
fn carries() {
    let n = 128;
    let words = |seed| {
        many(seed, 4 * n, |random| {
            [0, u32::MAX, random.u32(), random.u32()][random.u32_below(4) as usize]
        })
    };
    let (a, b) = (words(111), words(112));
    let wide = |words: &[u32]| {
        words
            .iter()
            .rev()
            .fold(0u128, |number, &word| number << 32 | u128::from(word))
    };
    // The rows: a sum and its carry, a difference and its borrow, a product; the others are not computed here.
    let columns = a.chunks(4).zip(b.chunks(4)).map(|(a, b)| {
        let (a, b) = (wide(a), wide(b));
        let (sum, carry) = a.overflowing_add(b);
        let (difference, borrow) = a.overflowing_sub(b);
        let words = |number: u128| (0..4).map(move |k| (number >> (32 * k)) as u32);
        let halves = |x: u128| [x & u128::from(u64::MAX), x >> 64];
        let ([a0, a1], [b0, b1]) = (halves(a), halves(b));
        // Schoolbook: the middle products overflow into the high half.
        let (middle, over) = (a0 * b1).overflowing_add(a1 * b0);
        let (low, more) = (a0 * b0).overflowing_add(middle << 64);
        let high = a1 * b1 + (middle >> 64) + (u128::from(over) << 64) + u128::from(more);
        let mut column: Vec<u32> = words(sum).collect();
        column.push(u32::from(carry));
        column.extend(words(difference));
        column.push(if borrow { u32::MAX } else { 0 });
        column.extend(words(low).chain(words(high)));
        column
    });
    let columns: Vec<_> = columns.collect();
    let expected = (0..18 * n).map(|i| columns[i % n][i / n]).collect();

    let mut trial = Trial::new("carries");
    let (a, b) = (trial.input("a", a), trial.input("b", b));
    let mut out = trial.rows::<u32>("out", n, &alike(30, Bound::Bits));
    trial.check(&out, expected, Bound::Bits);
    launch!(trial, carries<<<2, 64>>>(&a, &b, &mut out));
    trial.run();
}
