//! Barriers in shared memory, pipelines of copies, clusters of one block, and groups of two warps.

use crate::common::*;

const ROUNDS: usize = 7;

cuda_graph! {
    graph Barriers {
        host   input:    [i32; 128 * ROUNDS];
        host   words:    [u32; 32];
        device numbers:  [i32; 128 * ROUNDS];
        device tiles:    [i32; 128];
        device consumed: [i32; 64];
        device staged:   [i32; 128];
        device facts:    [u32; 32];
        device clusters: [u32; 128];
        device pairs:    [i32; 256];

        memcpy up       = input -> numbers;
        memcpy up_words = words -> facts;
        kernel k_tiles  = copy_tiles<<<1, 128>>>(&numbers, &mut tiles, ROUNDS as u32) after up;
        kernel k_both   = produce_and_consume<<<1, 128>>>(&numbers, &mut consumed, ROUNDS as u32) after up;
        kernel k_stages = two_stages<<<1, 128>>>(&numbers, &mut staged, ROUNDS as u32) after up;
        kernel k_forms  = forms<<<1, 1>>>(&mut facts) after up_words;
        kernel k_alone  = alone<<<2, 64>>>(&mut clusters);
        kernel k_pairs  = two_warps<<<2, 128>>>(&numbers, &mut pairs) after up;
    }
}

fn check(device: &Device) -> Result<()> {
    let input: Vec<i32> = (0..128 * ROUNDS as i32).map(|i| i * 37 % 101 - 50).collect();
    let mut graph = Barriers::build(device)?;
    graph.input_mut()?.copy_from_slice(&input);
    *graph.words_mut()? = std::array::from_fn(|i| 100 + i as u32);
    for _ in 0..2 {
        graph.launch()?;
    }
    let fold = |factor: i32, of: &dyn Fn(usize) -> i32| {
        (0..ROUNDS).fold(0_i32, |sum, round| sum.wrapping_mul(factor).wrapping_add(of(round)))
    };
    let tile = |i: usize| fold(3, &|round| input[round * 128 + (i + round + 1) % 128]);
    assert_eq!(*graph.tiles()?.read()?, std::array::from_fn(tile));
    let consumed = |i: usize| fold(3, &|round| input[round * 64 + 63 - i]);
    assert_eq!(*graph.consumed()?.read()?, std::array::from_fn(consumed));
    let staged = |i: usize| fold(5, &|round| input[round * 128 + 127 - i]);
    assert_eq!(*graph.staged()?.read()?, std::array::from_fn(staged));
    let facts = graph.facts()?.read()?;
    assert_eq!(facts[..10], [0, 1, 3, 1, 1, 2, 0, 0, 124 + 131, 1]);
    assert_eq!(facts[16..20], [124, 125, 126, 77]);
    let cluster = |i: usize| 10_640_000 + (63 - i as u32 % 64).pow(2);
    assert_eq!(*graph.clusters()?.read()?, std::array::from_fn(cluster));
    let pair = |i: usize| {
        let group = &input[i / 64 * 64..][..64];
        group.iter().sum::<i32>() * 10 + (i / 64 % 2) as i32 + i32::from(group.contains(&7)) * 5
    };
    assert_eq!(*graph.pairs()?.read()?, std::array::from_fn(pair));
    Ok(())
}

#[test]
fn threads_meet_at_barriers_in_shared_memory() -> Result<()> {
    check(&device())?;

    // Emulator only.
    let checks =
        |options: &mut EmulatorOptions| (options.check_shared_races, options.check_uninitialized) = (true, true);
    check(&emulator_with(checks))
}
