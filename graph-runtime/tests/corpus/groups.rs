//! `kernels/groups.cu`

use crate::bound::{Bound, alike};
use crate::data::many;
use crate::trial::Trial;
use graph_runtime::cuda_kernels;

#[cuda_kernels("tests/corpus/kernels/groups.ptx")]
unsafe extern "C" {
    fn tiles(input: &[i32], out: &mut [i32], n: u32);
    fn aggregated(input: &[i32], kept: &mut [i32], count: &mut [u32]);
}

#[test]
fn tiles() {
    trial!(tiles<<<2, 64>>>(
        input: many(241, 128, |random| random.u32_below(200) as i32 - 100)
        => out: rows::<i32>(128, &alike(7, Bound::Bits)); 128
    ));
}

#[test]
fn aggregated() {
    let input = many(242, 256, |random| random.u32_below(100) as i32);
    let kept: Vec<i32> = input.iter().copied().filter(|&x| x > 20).collect();
    let mut cells: Vec<i32> = (0..4).map(|k| ((kept.len() + 3 - k) / 4) as i32).collect();
    cells.push(kept.iter().sum());
    let mut trial = Trial::new("aggregated");
    let input = trial.input("in", input);
    let mut count = trial.expect("count", vec![kept.len() as u32], Bound::Bits);
    let mut kept = trial.expect("kept", cells, Bound::Bits);
    launch!(trial, aggregated<<<2, 128>>>(&input, &mut kept, &mut count));
    trial.run();
}
