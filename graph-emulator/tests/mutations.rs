//! Mutated PTX must be refused or run, never crash nor hang. `MUTATIONS` sets how many are tried, `MUTATION_SECONDS` for how
//! long instead; the fuzz targets in `fuzz/` do the same, guided by coverage.

use std::panic::catch_unwind;
use std::time::{Duration, Instant};

use graph_emulator::{Access, Buffer, Launch, Memory, Module, Options};

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end.max(1) as u64) as usize
    }
}

const SOURCES: [&str; 6] = [
    include_str!("kernels/basic.ptx"),
    include_str!("kernels/types.ptx"),
    include_str!("kernels/faults.ptx"),
    include_str!("kernels/checks.ptx"),
    include_str!("kernels/probes.ptx"),
    include_str!("kernels/conditional.ptx"),
];
/// No module takes as long as this, whatever it says.
const LIMIT: Duration = Duration::from_secs(60);

/// Exchange lines and tokens of a text.
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

/// Load a module, and run its kernels on rubbish.
fn run(text: &str, names: &[String]) -> usize {
    let memory = Memory::new();
    let Ok(module) = Module::load(&memory, text) else {
        return 0;
    };
    let data = memory.allocate("data", 4096).unwrap();
    let options = Options {
        step_limit: Some(20_000),
        threads: Some(1),
        check_uninitialized: text.len().is_multiple_of(2),
        check_shared_races: text.len().is_multiple_of(3),
        record_footprint: text.len().is_multiple_of(5),
        ..Options::default()
    };
    for name in names {
        let Some(kernel) = module.kernel(name) else {
            continue;
        };
        let arguments: Vec<Vec<u8>> = kernel
            .parameters()
            .iter()
            .map(|parameter| {
                let mut bytes = data.address().to_le_bytes().to_vec();
                bytes.resize(parameter.size.min(1 << 16), 0);
                bytes
            })
            .collect();
        let arguments: Vec<&[u8]> = arguments.iter().map(Vec::as_slice).collect();
        let access = Access::ReadWrite;
        let buffers = [Buffer {
            name: "data",
            address: data.address(),
            len: data.len(),
            access,
        }];
        let (grid, block) = ([2, 1, 1], [40, 1, 1]);
        let launch = Launch {
            grid,
            block,
            shared_bytes: 64,
            arguments: &arguments,
            buffers: &buffers,
            options: &options,
        };
        if let Err(fault) = module.launch(name, &launch) {
            assert!(!fault.to_string().is_empty());
        }
    }
    1
}

/// A number in the environment.
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
        let names: Vec<String> = source
            .lines()
            .filter_map(|line| Some(line.split_once(".entry ")?.1.split('(').next()?.trim().to_owned()))
            .filter(|name| name != "print")
            .collect();
        let text = mutate(source, &mut random);
        let begin = Instant::now();
        match catch_unwind(|| run(&text, &names)) {
            Ok(ran) => loaded += ran,
            Err(_) => panic!("mutation {tried} panicked"),
        }
        assert!(begin.elapsed() < LIMIT, "mutation {tried} took {:?}", begin.elapsed());
        slowest = slowest.max(begin.elapsed());
    }
    println!(
        "{tried} mutations in {:?}, {loaded} of them loaded and ran; the slowest took {slowest:?}",
        start.elapsed()
    );
    assert!(tried < 50 || loaded > 0);
}
