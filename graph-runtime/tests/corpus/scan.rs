//! `kernels/scan.cu`

use crate::bound::Bound;
use crate::data::{many, whole_floats};
use crate::trial::Trial;
use graph_runtime::cuda_kernels;

#[cuda_kernels("tests/corpus/kernels/scan.ptx")]
unsafe extern "C" {
    fn scan_inclusive(input: &[u32], out: &mut [u32]);
    fn scan_exclusive(input: &[f32], out: &mut [f32]);
    fn scan_lookback(input: &[u64], out: &mut [u64], ticket: &mut [u32], sums: &mut [u64], ready: &mut [u32]);
    fn compact(input: &[i32], out: &mut [i32], counts: &mut [u32]);
    fn segmented_sum(keys: &[u32], values: &[i32], out: &mut [i32]);
}

fn running<T: Copy>(values: &[T], zero: T, add: impl Fn(T, T) -> T) -> Vec<T> {
    let scan = values.iter().scan(zero, |sum, &value| {
        *sum = add(*sum, value);
        Some(*sum)
    });
    scan.collect()
}

#[test]
fn scan_inclusive() {
    let input = many(21, 3 * 160, |random| random.u32());
    let expected = input
        .chunks(160)
        .flat_map(|block| running(block, 0, u32::wrapping_add))
        .collect();
    trial!(scan_inclusive<<<3, 160>>>(input: input => out: expect(expected, Bound::Bits)));
}

#[test]
fn scan_exclusive() {
    let input = whole_floats(22, 512, 1000);
    let mut expected = running(&input, 0.0, |a, b| a + b);
    expected.rotate_right(1);
    expected[0] = 0.0;
    trial!(scan_exclusive<<<1, 256, 2048>>>(input: input => out: expect(expected, Bound::Bits)));
}

#[test]
fn scan_lookback() {
    let input = many(23, 12 * 128, |random| random.u64() >> 8);
    let expected = running(&input, 0, u64::wrapping_add);
    let mut trial = Trial::new("scan_lookback");
    let input = trial.input("in", input);
    let mut out = trial.expect("out", expected, Bound::Bits);
    let mut ticket = trial.scratch::<u32>("ticket", 1);
    let mut sums = trial.scratch::<u64>("sums", 12);
    let mut ready = trial.output::<u32>("ready", 12, Bound::Bits);
    launch!(trial, scan_lookback<<<12, 128>>>(&input, &mut out, &mut ticket, &mut sums, &mut ready));
    trial.run();
}

#[test]
fn compact() {
    let input = many(24, 2 * 192, |random| random.u32_below(21) as i32 - 12);
    let kept = |block: &[i32]| block.iter().copied().filter(|&value| value > 0).collect::<Vec<_>>();
    let counts = input.chunks(192).map(|block| kept(block).len() as u32).collect();
    let expected = input.chunks(192).flat_map(|block| {
        let mut kept = kept(block);
        kept.resize(192, 0);
        kept
    });
    let expected = expected.collect();
    trial!(compact<<<2, 192>>>(
        input: input => out: expect(expected, Bound::Bits), counts: expect(counts, Bound::Bits)
    ));
}

#[test]
fn segmented_sum() {
    let keys: Vec<u32> = (0..32).map(|lane| (lane * lane) / 100).collect();
    let values = many(25, 32, |random| random.u32_below(2000) as i32 - 1000);
    let mut expected = vec![0; 16];
    for (&key, value) in keys.iter().zip(&values) {
        expected[key as usize] += value;
    }
    trial!(segmented_sum<<<1, 32>>>(keys: keys, values: values => out: expect(expected, Bound::Bits)));
}
