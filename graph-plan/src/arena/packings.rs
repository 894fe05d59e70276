//! Packings compared with the optimum, which is found by trying all orders.

use super::*;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// For each buffer, the sorted list of buffers that it must be apart from; symmetric.
fn apart(count: usize, pairs: impl Fn(usize, usize) -> bool) -> Vec<Vec<usize>> {
    let others = |a: usize| (0..count).filter(|&b| a != b && pairs(a.min(b), a.max(b))).collect();
    (0..count).map(others).collect()
}

fn slices(lists: &[Vec<usize>]) -> Vec<&[usize]> {
    lists.iter().map(Vec::as_slice).collect()
}

/// Lifetimes, as first and last step, in order of the first.
fn lifetimes(count: usize) -> impl Strategy<Value = Vec<Vec<usize>>> {
    prop::collection::vec((0_usize..12, 0_usize..5), count).prop_map(|mut spans| {
        spans.sort_unstable();
        apart(spans.len(), |a, b| spans[a].0 + spans[a].1 >= spans[b].0)
    })
}

fn pairs(count: usize) -> impl Strategy<Value = Vec<Vec<usize>>> {
    prop::collection::vec(prop::bool::weighted(0.45), count * count)
        .prop_map(move |bits| apart(count, |a, b| bits[a * count + b]))
}

fn buffers(count: std::ops::Range<usize>) -> impl Strategy<Value = (Vec<usize>, Vec<Vec<usize>>)> {
    count.prop_flat_map(|count| {
        let sizes = prop::collection::vec((0_usize..17).prop_map(|units| units * 256 - units.min(1) * 3), count);
        (sizes, prop_oneof![lifetimes(count), pairs(count)])
    })
}

/// The smallest packing over all orders, each buffer placed as low as it goes.
fn optimum(sizes: &[usize], apart: &[Vec<usize>]) -> usize {
    fn search(sizes: &[usize], apart: &[Vec<usize>], offsets: &mut Vec<Option<usize>>, bytes: usize, best: &mut usize) {
        if bytes >= *best {
            return;
        }
        let left: Vec<usize> = (0..sizes.len()).filter(|&buffer| offsets[buffer].is_none()).collect();
        if left.is_empty() {
            *best = bytes;
        }
        for buffer in left {
            let mut taken: Vec<(usize, usize)> = apart[buffer]
                .iter()
                .filter_map(|&other| offsets[other].map(|offset| (offset, offset + aligned(sizes[other]))))
                .collect();
            taken.sort_unstable();
            let mut offset = 0;
            for (start, end) in taken {
                if start < offset + aligned(sizes[buffer]) {
                    offset = offset.max(end);
                }
            }
            offsets[buffer] = Some(offset);
            search(sizes, apart, offsets, bytes.max(offset + aligned(sizes[buffer])), best);
            offsets[buffer] = None;
        }
    }
    let mut best = usize::MAX;
    search(sizes, apart, &mut vec![None; sizes.len()], 0, &mut best);
    best
}

/// The heaviest set of buffers that are all apart: nothing packs better.
fn heaviest(sizes: &[usize], apart: &[Vec<usize>]) -> usize {
    let sets = 0_u32..1 << sizes.len();
    let members = |set: u32| (0..sizes.len()).filter(move |&buffer| set >> buffer & 1 == 1);
    let clique = |&set: &u32| members(set).all(|a| members(set).all(|b| a == b || apart[a].contains(&b)));
    sets.filter(clique)
        .map(|set| members(set).map(|buffer| aligned(sizes[buffer])).sum())
        .max()
        .unwrap_or(0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    #[test]
    fn packings_are_packings((sizes, apart) in buffers(0..60)) {
        let apart = slices(&apart);
        let (offsets, bytes) = pack(&sizes, &apart);
        prop_assert!(is_packing(&sizes, &apart, &offsets, bytes));
        prop_assert!(bytes <= sizes.iter().map(|&size| aligned(size)).sum());
    }

    #[test]
    fn a_wrong_packing_is_found((sizes, apart) in buffers(2..20), which: prop::sample::Index, to: prop::sample::Index) {
        let apart = slices(&apart);
        let (mut offsets, bytes) = pack(&sizes, &apart);
        let moved = which.index(sizes.len());
        offsets[moved] = offsets[to.index(sizes.len())];
        let meets = |a: usize, b: usize| {
            let size = |buffer: usize| aligned(sizes[buffer]);
            offsets[a] < offsets[b] + size(b) && offsets[b] < offsets[a] + size(a) && size(a).min(size(b)) > 0
        };
        let outside = offsets[moved] + aligned(sizes[moved]) > bytes;
        let wrong = outside || apart[moved].iter().any(|&other| meets(moved, other));
        prop_assert_eq!(is_packing(&sizes, &apart, &offsets, bytes), !wrong);
    }
}

/// Counts the optimal packings, and prints how far the others are from the smallest possible.
#[test]
fn small_packings_are_almost_optimal() {
    let (mut optimal, mut worst) = (0, 1.0_f64);
    const CASES: usize = 500;
    let mut runner = TestRunner::deterministic();
    for _ in 0..CASES {
        let (sizes, apart) = buffers(3..8).new_tree(&mut runner).unwrap().current();
        let (_, bytes) = pack(&sizes, &slices(&apart));
        let (optimum, heaviest) = (optimum(&sizes, &apart), heaviest(&sizes, &apart));
        assert!(heaviest <= optimum && optimum <= bytes);
        optimal += usize::from(bytes == optimum);
        worst = worst.max(bytes as f64 / optimum.max(1) as f64);
    }
    println!("{optimal} of {CASES} packings are optimal, the others up to {worst:.3} times as large");
    assert!(optimal * 100 >= 99 * CASES && worst < 1.1);
}

/// Chains of 24 layers with four buffers each, whose sizes no single order suits.
#[test]
fn long_chains_are_as_small_as_their_widest_point() {
    for sizes in [
        [3, 2, 5, 3],
        [12, 8, 10, 12],
        [1, 9, 2, 16],
        [6, 5, 4, 3],
        [7, 7, 3, 11],
    ] {
        let sizes: Vec<usize> = sizes.iter().map(|units| units * 256).cycle().take(96).collect();
        let lists = apart(96, |a, b| b - a == 1);
        let widest = sizes.windows(2).map(|pair| pair[0] + pair[1]).max().unwrap();
        assert_eq!(pack(&sizes, &slices(&lists)).1, widest, "{:?}", &sizes[..4]);
    }
}

#[test]
fn rustc_packs_as_a_program_does() {
    const APART: [&[usize]; 4] = [&[1], &[0, 2], &[1, 3], &[2]];
    const ARENA: Arena<4> = Arena::new([700, 512, 600, 700], &APART);
    let (offsets, bytes) = pack(&[700, 512, 600, 700], &APART);
    assert_eq!((ARENA.offsets.as_slice(), ARENA.bytes), (offsets.as_slice(), bytes));
    assert_eq!(bytes, 768 + 768);
    assert_eq!(Arena::new([], &[]).bytes, 0);
}

#[test]
fn sizes_that_no_memory_has_stay_so() {
    let (offsets, bytes) = pack(&[usize::MAX, usize::MAX - 1000, 4], &[&[1, 2], &[0, 2], &[0, 1]]);
    assert!(bytes >= usize::MAX - 256);
    assert!(!is_packing(
        &[usize::MAX, usize::MAX - 1000, 4],
        &[&[1, 2], &[0, 2], &[0, 1]],
        &offsets,
        bytes
    ));
}
