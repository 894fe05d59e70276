//! `kernels/hopper.cu`

use crate::bound::{Bound, alike};
use crate::data::{many, whole_floats};
use crate::trial::Trial;
use graph_runtime::cuda_kernels;

#[cuda_kernels("tests/corpus/kernels/hopper.ptx")]
unsafe extern "C" {
    fn programmatic(input: &[i32], out: &mut [i32]);
    fn elected(input: &[i32], out: &mut [i32]);
    fn vector_atomics(input: &[f32], sum: &mut [f32], pairs: &mut [f32]);
}

#[test]
fn programmatic() {
    let input = many(231, 128, |random| random.u32_below(1000) as i32);
    let expected = input.iter().map(|x| (x * 3 + 1) * 3 + 1).collect();
    let mut trial = Trial::new("programmatic");
    let input = trial.input("in", input);
    let mut middle = trial.scratch::<i32>("middle", 128);
    let mut out = trial.expect("out", expected, Bound::Bits);
    launch!(trial, programmatic<<<2, 64>>>(&input, &mut middle));
    launch!(trial, programmatic<<<2, 64>>>(&middle, &mut out));
    trial.run();
}

#[test]
fn elected() {
    trial!(elected<<<1, 96>>>(
        input: many(232, 96, |random| random.u32_below(200) as i32 - 100)
        => out: rows::<i32>(96, &alike(5, Bound::Bits))
    ));
}

#[test]
fn vector_atomics() {
    let input = whole_floats(233, 4 * 64, 50);
    let sum =
        |part: usize, from: usize, step: usize| input.chunks(4).skip(from).step_by(step).map(|v| v[part]).sum::<f32>();
    let sums = (0..4).map(|part| sum(part, 0, 1)).collect();
    let pairs = [0, 1].map(|k| [sum(0, k, 2), sum(3, k, 2)]).concat();
    trial!(vector_atomics<<<1, 64>>>(
        input: input.clone() => sum: expect(sums, Bound::Bits), pairs: expect(pairs, Bound::Bits)
    ));
}
