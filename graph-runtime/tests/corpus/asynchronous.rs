//! `kernels/async.cu`

use crate::bound::Bound;
use crate::data::{many, whole_floats};
use graph_runtime::cuda_kernels;

#[cuda_kernels("tests/corpus/kernels/async.ptx")]
unsafe extern "C" {
    fn pipeline(input: &[f32], out: &mut [f32], tiles: i32);
    fn pipeline_intrinsics(input: &[i32], out: &mut [i32], rows: i32);
    fn copy_sizes(input: &[u32], out: &mut [u32], valid: i32);
}

#[test]
fn pipeline() {
    let tiles = 6;
    let input = whole_floats(211, tiles * 256, 100);
    let sum = |i: usize| {
        (0..tiles)
            .map(|tile| input[tile * 256 + (63 - i / 4) * 4 + i % 4])
            .sum::<f32>()
    };
    let expected = (0..256).map(sum).collect();
    trial!(pipeline<<<1, 64>>>(input: input => out: expect(expected, Bound::Bits); tiles as i32));
}

#[test]
fn copy_sizes() {
    let valid = 77;
    let input = many(212, 128, |random| random.u32());
    let word = |row: usize, i: usize| match row {
        0 => input[i],
        1 if i < valid => input[i],
        // A copy whose predicate says to ignore its source writes zeros.
        2 if i / 4 % 4 != 3 => input[i],
        _ => 0,
    };
    let expected = (0..3 * 128).map(|i| word(i / 128, 127 - i % 128)).collect();
    trial!(copy_sizes<<<1, 128>>>(input: input.clone() => out: expect(expected, Bound::Bits); valid as i32));
}

#[test]
fn pipeline_intrinsics() {
    let rows = 9;
    let input = many(213, rows * 64, |random| random.u32() as i32);
    let value = |i: usize| {
        let (pair, row, t) = (i % 2, i / 2 % rows, i / 2 / rows);
        // The second half of row 1 is cut off.
        if row == 1 && 31 - t >= 16 {
            0
        } else {
            input[(row * 32 + 31 - t) * 2 + 1 - pair]
        }
    };
    let expected = (0..rows * 64).map(value).collect();
    trial!(pipeline_intrinsics<<<1, 32>>>(input: input.clone() => out: expect(expected, Bound::Bits); rows as i32));
}
