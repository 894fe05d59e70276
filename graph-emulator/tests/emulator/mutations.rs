//! Mutated PTX must be refused or run, and never crash or hang.
//!
//! `MUTATIONS` sets the number of mutations to try, `MUTATION_SECONDS` the time to try them for instead. The fuzz
//! targets in `fuzz/` do the same, guided by coverage.

use std::panic::catch_unwind;
use std::time::{Duration, Instant};

use crate::common::random::Random;
use crate::common::rubbish::launch_all;

const SOURCES: [&str; 13] = [
    include_str!("../kernels/basic.ptx"),
    include_str!("../kernels/types.ptx"),
    include_str!("../kernels/faults.ptx"),
    include_str!("../kernels/checks.ptx"),
    include_str!("../kernels/probes.ptx"),
    include_str!("../kernels/conditional.ptx"),
    include_str!("../kernels/textures.ptx"),
    include_str!("../../../graph-runtime/tests/kernels/barriers.ptx"),
    include_str!("../../../graph-runtime/tests/kernels/clusters.ptx"),
    include_str!("../../../graph-runtime/tests/kernels/forms.ptx"),
    include_str!("../../../graph-runtime/tests/kernels/grid.ptx"),
    include_str!("../../../graph-ptx/tests/data/features_debug.sm_70.ptx"),
    include_str!("../../../graph-ptx/tests/data/hopper.sm_90.ptx"),
];
/// Numbers at the ends of the types that decoders compute in.
const NUMBERS: [&str; 16] = [
    "0",
    "1",
    "3",
    "-1",
    "255",
    "65535",
    "2147483647",
    "2147483648",
    "-2147483648",
    "4294967295",
    "4294967296",
    "0x7fffffffffffffff",
    "0x8000000000000000",
    "-9223372036854775808",
    "18446744073709551615",
    "340282366920938463463374607431768211455",
];
/// The longest that any module may take.
const MAX_TIME: Duration = Duration::from_secs(60);

/// Replaces one of the numbers of a line, which may be a part of a word (`m16n8k16`), with an unusual one.
fn replace_number(line: &str, random: &mut Random) -> String {
    let mut parts: Vec<String> = Vec::new();
    for letter in line.chars() {
        match parts.last_mut() {
            Some(part) if part.ends_with(|last: char| last.is_ascii_digit()) == letter.is_ascii_digit() => {
                part.push(letter);
            }
            _ => parts.push(letter.to_string()),
        }
    }
    let numbers: Vec<usize> = (0..parts.len())
        .filter(|&part| parts[part].starts_with(|first: char| first.is_ascii_digit()))
        .collect();
    if let Some(&part) = numbers.get(random.below(numbers.len())) {
        NUMBERS[random.below(NUMBERS.len())].clone_into(&mut parts[part]);
    }
    parts.concat()
}

/// Exchanges lines, tokens and numbers of a text.
fn mutate(text: &str, random: &mut Random) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..1 + random.below(4) {
        let (from, to) = (random.below(lines.len()), random.below(lines.len()));
        match random.below(6) {
            0 => lines[to] = lines[from].clone(),
            1 | 2 => lines[to] = replace_number(&lines[to], random),
            3 => {
                let end = random.below(lines[to].len() + 1);
                let cut = (0..=end)
                    .rev()
                    .find(|&end| lines[to].is_char_boundary(end))
                    .unwrap_or(0);
                lines[to].truncate(cut);
            }
            _ => {
                let donor: Vec<&str> = lines[from].split_inclusive([' ', ',', '.', '\t']).collect();
                let mut own: Vec<&str> = lines[to].split_inclusive([' ', ',', '.', '\t']).collect();
                if !donor.is_empty() && !own.is_empty() {
                    let at = random.below(own.len());
                    own[at] = donor[random.below(donor.len())];
                    lines[to] = own.concat();
                }
            }
        }
    }
    lines.join("\n")
}

/// A number from the environment.
fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn mutated_modules_never_panic() {
    let seconds = setting("MUTATION_SECONDS");
    let count = setting("MUTATIONS").unwrap_or(if seconds.is_some() { u64::MAX } else { 60 });
    let start = Instant::now();
    let (mut tried, mut loaded, mut slowest) = (0u64, 0, Duration::ZERO);
    let goes_on = |tried| seconds.is_none_or(|seconds| start.elapsed().as_secs() < seconds) && tried < count;
    while goes_on(tried) {
        tried += 1;
        let mut random = Random(0x9e37_79b9_7f4a_7c15u64.wrapping_mul(tried));
        let source = SOURCES[random.below(SOURCES.len())];
        let names: Vec<&str> = source
            .lines()
            .filter_map(|line| Some(line.split_once(".entry ")?.1.split('(').next()?.trim()))
            .filter(|&name| name != "print")
            .collect();
        let text = mutate(source, &mut random);
        let begin = Instant::now();
        match catch_unwind(|| launch_all(&text, names.iter().copied(), 20_000)) {
            Ok(ran) => loaded += u64::from(ran),
            Err(_) => panic!("mutation {tried} panicked"),
        }
        assert!(
            begin.elapsed() < MAX_TIME,
            "mutation {tried} took {:?}",
            begin.elapsed()
        );
        slowest = slowest.max(begin.elapsed());
    }
    println!(
        "{tried} mutations in {:?}, {loaded} of them loaded and ran; the slowest took {slowest:?}",
        start.elapsed()
    );
    assert!(tried < 50 || loaded > 0);
}
