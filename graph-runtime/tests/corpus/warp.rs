//! `kernels/warp.cu`

use crate::bound::{Bound, alike};
use crate::data::many;
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
    trial!(votes<<<2, 64>>>(input: input => out: rows::<u32>(128, &alike(10, Bound::Bits))));
}

trials! {
    shuffles<<<1, 64>>>(
        input: many(142, 64, |random| random.u32() as i32) => out: rows::<u32>(64, &alike(17, Bound::Bits))
    );
    reduce_sync<<<1, 96>>>(
        input: many(143, 96, |random| random.u32() as i32 >> (random.u32() & 15))
        => out: rows::<u32>(96, &alike(9, Bound::Bits))
    );
}

#[test]
fn special_registers() {
    let threads = 2 * 3 * 2 * (5 * 4 * 3);
    trial!(special_registers<<<(2, 3, 2), (5, 4, 3), 96>>>(=> out: output::<u32>(threads * 12, Bound::Bits)));
}
