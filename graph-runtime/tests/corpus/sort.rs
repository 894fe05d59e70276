//! `kernels/sort.cu`

use crate::bound::Bound;
use crate::data::{floats, many};
use crate::trial::Trial;
use graph_runtime::cuda_kernels;

#[cuda_kernels("tests/corpus/kernels/sort.ptx")]
unsafe extern "C" {
    fn bitonic_sort(keys: &mut [f32], values: &mut [u32]);
    fn radix_sort(input: &[u32], out: &mut [u32]);
    fn lower_bound(table: &[i64], n: i32, keys: &[i64], out: &mut [i32]);
    fn quicksort_local(data: &mut [i16], n: i32);
}

#[test]
fn bitonic_sort() {
    let mut keys = floats(31, 2 * 512, -1e3, 1e3);
    keys[3] = f32::INFINITY;
    keys[600] = f32::NEG_INFINITY;
    let mut trial = Trial::new("bitonic_sort");
    let mut values = trial.output::<u32>("values", keys.len(), Bound::Bits);
    let mut keys = trial.changed("keys", keys, Bound::Bits);
    launch!(trial, bitonic_sort<<<2, 512>>>(&mut keys, &mut values));
    trial.run();
}

#[test]
fn radix_sort() {
    let input = many(32, 3 * 256, |random| random.u32() >> (random.u32() % 30));
    let sorted = |block: &[u32]| {
        let mut block = block.to_vec();
        block.sort_unstable();
        block
    };
    let expected = input.chunks(256).flat_map(sorted).collect();
    trial!(radix_sort<<<3, 256>>>(input: input => out: expect(expected, Bound::Bits)));
}

#[test]
fn lower_bound() {
    let mut table = many(33, 333, |random| random.u64() as i64 >> 50);
    table.sort_unstable();
    table[332] = i64::MAX;
    let mut keys = many(34, 256, |random| random.u64() as i64 >> 50);
    keys[..3].copy_from_slice(&[i64::MIN, i64::MAX, 0]);
    let expected = keys
        .iter()
        .map(|key| table.partition_point(|entry| entry < key) as i32)
        .collect();
    let mut trial = Trial::new("lower_bound");
    let (table, keys) = (trial.input("table", table), trial.input("keys", keys));
    let mut out = trial.expect("out", expected, Bound::Bits);
    launch!(trial, lower_bound<<<4, 64>>>(&table, 333, &keys, &mut out));
    trial.run();
}

#[test]
fn quicksort_local() {
    let data = many(35, 64 * 40, |random| random.u32() as i16);
    let mut expected = data.clone();
    expected.chunks_mut(40).for_each(<[i16]>::sort_unstable);
    trial!(quicksort_local<<<2, 32>>>(=> data: changed(data, Bound::Bits); 40));
}
