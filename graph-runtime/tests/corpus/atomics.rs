//! `kernels/atomics.cu`

use crate::bound::Bound;
use crate::data::{many, whole_floats};
use crate::trial::Trial;
use graph_runtime::cuda_kernels;

#[cuda_kernels("tests/corpus/kernels/atomics.ptx")]
unsafe extern "C" {
    fn atomics_32(input: &[i32], out: &mut [i32], unsigned: &mut [u32]);
    fn atomics_64(input: &[i64], out: &mut [i64], unsigned: &mut [u64]);
    fn atomics_float(input: &[f32], out: &mut [f32], wide: &mut [f64]);
    fn atomics_shared(input: &[i32], out: &mut [i32], wide: &mut [u64], floats: &mut [f32]);
    fn atomics_assembly(input: &[u32], out: &mut [u32], narrow: &mut [u16]);
}

#[test]
fn atomics_32() {
    let input = many(161, 192, |random| random.u32() as i32 >> (random.u32() & 7));
    let out = vec![0, 0, i32::MAX, i32::MIN, -1, 0, 0, 0, 0, 0];
    let mut unsigned = vec![0; 8 + 192];
    unsigned[1] = u32::MAX;
    let mut trial = Trial::new("atomics_32");
    let input = trial.input("in", input);
    // The thread that exchanged last is left open: cells 7 and 8 add up to all.
    let mut out = trial.input("out", out);
    let fixed = out.rows(..7);
    trial.compare("fixed", fixed, Bound::Bits);
    trial.compare("exchanges", out.rows(9..), Bound::Bits);
    trial.check_sum(out.rows(7..9), (1..=192).sum());
    let mut unsigned = trial.changed("unsigned", unsigned, Bound::Bits);
    launch!(trial, atomics_32<<<3, 64>>>(&input, &mut out, &mut unsigned));
    trial.run();
}

#[test]
fn atomics_64() {
    let input = many(162, 160, |random| random.u64() as i64 >> (random.u32() & 31));
    let mut unsigned = vec![0u64; 9];
    unsigned[1] = u64::MAX;
    unsigned[3] = u64::MAX;
    let mut trial = Trial::new("atomics_64");
    let input = trial.input("in", input);
    let mut out = trial.changed("out", vec![i64::MAX, i64::MIN], Bound::Bits);
    let mut unsigned = trial.input("unsigned", unsigned);
    trial.compare("fixed", unsigned.rows(..6), Bound::Bits);
    trial.compare("swapped", unsigned.rows(8..), Bound::Bits);
    trial.check_sum(unsigned.rows(6..8), (1..=160).sum());
    launch!(trial, atomics_64<<<5, 32>>>(&input, &mut out, &mut unsigned));
    trial.run();
}

#[test]
fn atomics_float() {
    let input = whole_floats(163, 192, 1000);
    let third = |k: usize| -input.iter().skip(k).step_by(3).sum::<f32>();
    let most = input.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f32 = input.iter().sum();
    let expected = vec![sum, third(0), third(1), third(2), most, 3.25];
    let mut trial = Trial::new("atomics_float");
    let input = trial.input("in", input);
    let mut out = trial.changed("out", vec![0.0, 0.0, 0.0, 0.0, f32::NEG_INFINITY, 0.0], Bound::Bits);
    trial.check(&out, expected, Bound::Bits);
    let mut wide = trial.changed("wide", vec![0.0, 1.0], Bound::Bits);
    trial.check(&wide, vec![f64::from(sum) * 2f64.powi(40), 1.0], Bound::Bits);
    launch!(trial, atomics_float<<<2, 96>>>(&input, &mut out, &mut wide));
    trial.run();
}

#[test]
fn atomics_shared() {
    let mut trial = Trial::new("atomics_shared");
    let input = trial.input(
        "in",
        many(164, 256, |random| random.u32() as i32 >> (random.u32() & 15)),
    );
    let mut out = trial.scratch::<i32>("out", 24);
    for (name, cells) in [
        ("first", 0..9),
        ("eleventh", 11..12),
        ("second", 12..21),
        ("last", 23..24),
    ] {
        trial.compare(name, out.rows(cells), Bound::Bits);
    }
    trial.check_sum(out.rows(9..11), (1..=128).sum());
    trial.check_sum(out.rows(21..23), (1..=128).sum());
    let mut wide = trial.output::<u64>("wide", 12, Bound::Bits);
    let mut floats = trial.output::<f32>("floats", 6, Bound::Bits);
    launch!(trial, atomics_shared<<<2, 128>>>(&input, &mut out, &mut wide, &mut floats));
    trial.run();
}

#[test]
fn atomics_assembly() {
    trial!(atomics_assembly<<<2, 64>>>(
        input: many(165, 128, |random| random.u32())
        => out: changed(vec![0, 1 << 31, 0, 0, u32::MAX, u32::MAX, 0], Bound::Bits),
        narrow: changed(vec![65_500u16, 3], Bound::Bits)
    ));
}
