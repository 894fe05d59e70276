//! `kernels/reduce.cu`

use crate::bound::Bound;
use crate::data::{floats, many, whole_floats};
use crate::trial::Trial;
use graph_runtime::cuda_kernels;

#[cuda_kernels("tests/corpus/kernels/reduce.ptx")]
unsafe extern "C" {
    fn sum_tree(input: &[f32], out: &mut [f32]);
    fn sum_volatile(input: &[i32], out: &mut [i32]);
    fn sum_shuffle(input: &[f64], out: &mut [f64], n: u32);
    fn sum_atomic(input: &[u64], out: &mut [u64], n: u32);
    fn sum_last_block(input: &[f32], partial: &mut [f32], out: &mut [f32], n: u32);
    fn extremes(input: &[f32], low: &mut [f32], high: &mut [f32], index: &mut [i32]);
    fn welford(input: &[f32], mean: &mut [f32], variance: &mut [f32], n: i32);
}

#[test]
fn sum_tree() {
    let input = floats(41, 4 * 256, -1.0, 1.0);
    let tree = |block: &[f32]| {
        let mut sums = block.to_vec();
        while sums.len() > 1 {
            let half = sums.len() / 2;
            sums = (0..half).map(|i| sums[i] + sums[i + half]).collect();
        }
        sums[0]
    };
    let expected = input.chunks(256).map(tree).collect();
    trial!(sum_tree<<<4, 256, 1024>>>(input: input => out: expect(expected, Bound::Bits)));
}

#[test]
fn sum_volatile() {
    let input = many(42, 5 * 256, |random| random.u32() as i32);
    let sum = |block: &[i32]| block.iter().fold(0i32, |sum, value| sum.wrapping_add(*value));
    let expected = input.chunks(256).map(sum).collect();
    trial!(sum_volatile<<<5, 256>>>(input: input => out: expect(expected, Bound::Bits)));
}

#[test]
fn sum_shuffle() {
    let input = many(43, 1000, |random| random.f64(-1.0, 1.0));
    trial!(sum_shuffle<<<2, 192>>>(input: input => out: output::<f64>(2, Bound::Bits); 1000));
}

#[test]
fn sum_atomic() {
    let input = many(44, 3000, |random| random.u64());
    let expected = input.iter().fold(0u64, |sum, value| sum.wrapping_add(*value));
    trial!(sum_atomic<<<4, 128>>>(input: input => out: expect(vec![expected], Bound::Bits); 3000));
}

#[test]
fn sum_last_block() {
    let input = whole_floats(45, 2000, 500);
    let expected: f32 = input.iter().sum();
    let mut trial = Trial::new("sum_last_block");
    let input = trial.input("in", input);
    let mut partial = trial.output::<f32>("partial", 5, Bound::Bits);
    let mut out = trial.expect("out", vec![expected], Bound::Bits);
    launch!(trial, sum_last_block<<<5, 128>>>(&input, &mut partial, &mut out, 2000));
    trial.repeat(3).run();
}

#[test]
fn extremes() {
    let mut input = floats(46, 8 * 32, -100.0, 100.0);
    input[3] = f32::NAN;
    input[40..60].fill(99.5);
    input[64..96].fill(f32::NAN);
    input[100] = f32::INFINITY;
    input[130] = f32::NEG_INFINITY;
    input[160..192].fill(0.0);
    input[170] = -0.0;
    trial!(extremes<<<2, 128>>>(
        input: input
        => low: output::<f32>(8, Bound::Number), high: output::<f32>(8, Bound::Number),
        index: output::<i32>(8, Bound::Bits)
    ));
}

#[test]
fn welford() {
    trial!(welford<<<1, 32>>>(
        input: floats(47, 320, 10.0, 12.0)
        => mean: output::<f32>(1, Bound::Bits), variance: output::<f32>(1, Bound::Bits); 320
    ));
}
