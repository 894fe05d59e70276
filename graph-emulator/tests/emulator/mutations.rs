//! Mutated PTX must be refused or run, and never crash or hang.
//!
//! `MUTATIONS` sets the number of mutations to try, `MUTATION_SECONDS` the time to try them for instead. The fuzz
//! targets in `fuzz/` do the same, guided by coverage.

use std::panic::catch_unwind;
use std::time::{Duration, Instant};

use crate::common::random::Random;
use crate::common::rubbish::launch_all;

const SOURCES: [&str; 6] = [
    include_str!("../kernels/basic.ptx"),
    include_str!("../kernels/types.ptx"),
    include_str!("../kernels/faults.ptx"),
    include_str!("../kernels/checks.ptx"),
    include_str!("../kernels/probes.ptx"),
    include_str!("../kernels/conditional.ptx"),
];
/// The longest that any module may take.
const MAX_TIME: Duration = Duration::from_secs(60);

/// Exchanges lines and tokens of a text.
fn mutate(text: &str, random: &mut Random) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..1 + random.below(4) {
        let (from, to) = (random.below(lines.len()), random.below(lines.len()));
        match random.below(4) {
            0 => lines[to] = lines[from].clone(),
            1 => {
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
