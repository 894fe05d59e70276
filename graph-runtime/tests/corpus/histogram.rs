//! `kernels/histogram.cu`

use crate::bound::Bound;
use crate::data::{floats, many};
use graph_runtime::cuda_kernels;

#[cuda_kernels("tests/corpus/kernels/histogram.ptx")]
unsafe extern "C" {
    fn histogram_shared(input: &[u8], bins: &mut [u32], n: u32);
    fn histogram_matched(input: &[f32], bins: &mut [u32], count: i32, n: u32);
    fn histogram_packed(input: &[u16], bins: &mut [u16], n: u32, count: u32);
}

fn counts(bins: usize, of: impl Iterator<Item = usize>) -> Vec<u32> {
    let mut counts = vec![0; bins];
    of.for_each(|bin| counts[bin] += 1);
    counts
}

#[test]
fn histogram_shared() {
    let input = many(51, 5000, |random| (random.u32() & random.u32()) as u8);
    let expected = counts(256, input.iter().map(|&byte| usize::from(byte)));
    trial!(histogram_shared<<<3, 96>>>(input: input => bins: expect(expected, Bound::Bits); 5000));
}

#[test]
fn histogram_matched() {
    let mut input = floats(52, 1500, -0.1, 1.1);
    input[7] = f32::NAN;
    input[8] = f32::INFINITY;
    input[9] = -1e30;
    // A NaN converts to 0.
    let bin = |&x: &f32| (x * 20.0).floor().clamp(0.0, 19.0) as usize;
    let expected = counts(20, input.iter().map(bin));
    trial!(histogram_matched<<<2, 128>>>(input: input => bins: expect(expected, Bound::Bits); 20, 1500));
}

#[test]
fn histogram_packed() {
    let input = many(53, 3000, |random| random.u32() as u16);
    let expected = counts(50, input.iter().map(|&value| usize::from(value % 50)));
    let expected = expected.into_iter().map(|count| count as u16).collect();
    trial!(histogram_packed<<<1, 160, 100>>>(input: input => bins: expect(expected, Bound::Bits); 3000, 50));
}
