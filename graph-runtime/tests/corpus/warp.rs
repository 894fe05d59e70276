//! `kernels/warp.cu`

use crate::bound::{Bound, alike};
use crate::data::many;
use crate::trial::Trial;
use graph_runtime::cuda_kernels;

#[cuda_kernels("tests/corpus/kernels/warp.ptx")]
unsafe extern "C" {
    fn votes(input: &[i32], out: &mut [u32]);
    fn shuffles(input: &[i32], out: &mut [u32]);
    fn reduce_sync(input: &[i32], out: &mut [u32]);
    fn special_registers(out: &mut [u32]);
}

#[test]
fn votes() {
    let mut input = many(141, 128, |random| random.u32_below(40) as i32 - 16);
    input[32..64].fill(7);
    input[64..96].fill(-300);
    let mut trial = Trial::new("votes");
    let input = trial.input("in", input);
    let mut out = trial.rows::<u32>("out", 128, &alike(10, Bound::Bits));
    launch!(trial, votes<<<2, 64>>>(&input, &mut out));
    trial.run();
}

#[test]
fn shuffles() {
    let mut trial = Trial::new("shuffles");
    let input = trial.input("in", many(142, 64, |random| random.u32() as i32));
    let mut out = trial.rows::<u32>("out", 64, &alike(17, Bound::Bits));
    launch!(trial, shuffles<<<1, 64>>>(&input, &mut out));
    trial.run();
}

#[test]
fn reduce_sync() {
    let mut trial = Trial::new("reduce_sync");
    let input = trial.input("in", many(143, 96, |random| random.u32() as i32 >> (random.u32() & 15)));
    let mut out = trial.rows::<u32>("out", 96, &alike(9, Bound::Bits));
    launch!(trial, reduce_sync<<<1, 96>>>(&input, &mut out));
    trial.run();
}

#[test]
fn special_registers() {
    let threads = 2 * 3 * 2 * (5 * 4 * 3);
    let mut trial = Trial::new("special_registers");
    let mut out = trial.output::<u32>("out", threads * 12, Bound::Bits);
    launch!(trial, special_registers<<<(2, 3, 2), (5, 4, 3), 96>>>(&mut out));
    trial.run();
}
