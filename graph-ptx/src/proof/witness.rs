//! The search for a launch in which a kernel leaves its memory: launches that the contract admits, with lengths as
//! small as it allows, small numbers first, then large ones. A witness is a thread that was run with numbers, so a
//! kernel that is refuted does leave its memory.

use super::concrete::{At, Fault, Threads, Touched};
use super::machine::Machine;
use super::term::{Binary, Term};
use super::value::Memory;
use super::{Kernel, Kind, Launch};
use crate::ast::{Function, Instruction, Module};

/// The launches that are tried.
const MAX_LAUNCHES: usize = 600;
/// The instructions of one thread.
const MAX_THREAD: usize = 3000;
/// The greatest length.
const MAX_LEN: i128 = 1 << 40;

/// A launch in which a kernel leaves its memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// The launch, and the arguments: values, and lengths of memory.
    pub launch: Launch,
    /// The byte that memory, and structs that are passed by value, have everywhere.
    pub fill: u8,
    /// The block and the thread in it that leave their memory.
    pub block: [u32; 3],
    /// The thread.
    pub thread: [u32; 3],
    /// The line of the PTX.
    pub line: u32,
    /// The memory that is left.
    pub memory: String,
    /// The bytes from its beginning to the access.
    pub offset: i128,
    /// The bytes that are accessed.
    pub size: u64,
    /// The bytes of the memory.
    pub bytes: i128,
    /// Whether the access is within the memory, but reads what nothing has written.
    pub is_unwritten: bool,
}

/// Numbers in an order that is always the same.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % end.max(1)
    }

    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.next(list.len())]
    }
}

const SMALL: [i128; 14] = [1, 2, 3, 0, 4, 5, 7, 8, 16, 17, 32, 33, 64, 100];
const LARGE: [i128; 12] = [
    1000,
    1 << 16,
    65_535,
    (1 << 16) + 1,
    1 << 29,
    1 << 30,
    (1 << 31) - 1,
    1 << 31,
    (1 << 31) + 1,
    (1 << 32) - 1,
    -1,
    -100,
];
const BLOCKS: [u32; 8] = [2, 1, 3, 4, 5, 32, 33, 64];
const GRIDS: [u32; 6] = [1, 2, 3, 4, 7, 9];
const LARGE_GRIDS: [u32; 5] = [1 << 16, 1 << 21, (1 << 21) + 1, 1 << 22, i32::MAX as u32];

/// The most threads of a block of the kernel.
fn most_threads(function: &Function) -> u64 {
    let most = function.max_block;
    most.map_or(1024, |sides| sides.iter().map(|&side| u64::from(side)).product())
}

/// At most `count` launches of a kernel that its contract admits, small ones, with lengths as small as it allows.
/// `seed` chooses them. For tests: a proved kernel stays within its memory in each.
pub fn samples(module: &Module, kernel: &Kernel, seed: u64, count: usize) -> Vec<Launch> {
    let named = |function: &&Function| function.entry && function.name == kernel.entry && function.body.is_some();
    let Some(function) = module.functions.iter().find(named) else {
        return Vec::new();
    };
    let fixed = super::fixed::sides(kernel, function);
    let most = most_threads(function);
    let mut numbers = Numbers(seed.wrapping_mul(2).wrapping_add(1));
    let tried = (0..count.saturating_mul(8)).filter_map(|_| launch(kernel, &fixed, most, Size::Small, &mut numbers));
    tried.take(count).collect()
}

/// At most `count` small launches that the contract admits, with at most this number of threads, and with these
/// dimensions where they are given.
pub(super) fn small(
    machine: &Machine<'_>,
    fixed: &[[Option<u32>; 3]; 2],
    count: usize,
    threads: u64,
) -> impl Iterator<Item = Launch> {
    let (kernel, function) = (machine.kernel, machine.function);
    let most = most_threads(function);
    let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15);
    let sizes = (0..count).map(move |attempt| if attempt < count / 2 { Size::Least } else { Size::Small });
    sizes
        .filter_map(move |size| launch(kernel, fixed, most, size, &mut numbers))
        .filter(move |launch| {
            let sides = launch.grid.iter().chain(&launch.block);
            has_clusters(function, launch) && sides.map(|&side| u64::from(side)).product::<u64>() <= threads
        })
}

/// Whether the grid is of whole clusters: CUDA refuses other launches.
fn has_clusters(function: &Function, launch: &Launch) -> bool {
    let cluster = function.cluster.required.unwrap_or([1; 3]);
    let mut sides = launch.grid.iter().zip(cluster);
    sides.all(|(side, cluster)| side.is_multiple_of(cluster.max(1)))
}

/// Searches for a witness.
pub(super) fn find(machine: &Machine<'_>, steps: usize) -> Option<Witness> {
    let (kernel, function) = (machine.kernel, machine.function);
    let threads = Threads::of(machine);
    let fixed = super::fixed::sides(kernel, function);
    let most = most_threads(function);
    let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15);
    let mut steps = steps;
    for attempt in 0..MAX_LAUNCHES {
        if steps == 0 {
            return None;
        }
        let is_large = attempt % 3 == 2 && attempt > 20;
        let size = match (is_large, attempt < 20) {
            (true, _) => Size::Large,
            (false, true) => Size::Least,
            (false, false) => Size::Small,
        };
        let launch = launch(kernel, &fixed, most, size, &mut numbers);
        let Some(launch) = launch.filter(|launch| has_clusters(function, launch)) else {
            continue;
        };
        let fill = if attempt < 40 {
            0
        } else {
            numbers.of(&[0, 0xff, 0, 1, 0x7f])
        };
        for _ in 0..6 {
            let place = |sides: [u32; 3], numbers: &mut Numbers| {
                sides.map(|side| match numbers.next(4) {
                    0 => 0,
                    1 => numbers.next(side as usize) as u32,
                    _ => side - 1,
                })
            };
            let at = At {
                block: place(launch.grid, &mut numbers),
                thread: place(launch.block, &mut numbers),
            };
            let thread = threads.at(&launch, at, fill);
            let mut left = MAX_THREAD.min(steps);
            let given = left;
            let fault = thread.fault(&mut left);
            steps -= given - left.min(given);
            if let Some(fault) = fault {
                return Some(witness(machine, &launch, fill, at, fault));
            }
        }
    }
    None
}

/// The most threads of a launch in which loads of memory that holds nothing are looked for.
const MAX_THREADS: u64 = 64;
/// The launches in which they are looked for.
const MAX_UNWRITTEN: usize = 24;

/// Searches for a thread that loads what no thread has written: memory holds nothing there when the launch begins, the
/// thread has not stored to it before, and no other thread of the launch ever does.
pub(super) fn find_unwritten(machine: &Machine<'_>, mut steps: usize) -> Option<Witness> {
    let kernel = machine.kernel;
    if machine.body.instructions.iter().any(stores_unseen) {
        return None;
    }
    let threads = Threads::of(machine);
    let fixed = super::fixed::sides(kernel, machine.function);
    for launch in small(machine, &fixed, MAX_UNWRITTEN, MAX_THREADS) {
        let runs = threads.all(&launch).map(|thread| {
            let mut left = MAX_THREAD.min(steps);
            let given = left;
            let touched = thread.whole(&mut left);
            steps -= given - left.min(given);
            Some((thread.at, touched?))
        });
        let Some(all) = runs.collect::<Option<Vec<(At, Vec<Touched>)>>>() else {
            continue;
        };
        for (number, (at, touched)) in all.iter().enumerate() {
            let others = all.iter().enumerate().filter(|(other, _)| *other != number);
            let others: Vec<&Touched> = others.flat_map(|(_, (.., touched))| touched).collect();
            let Some(load) = unwritten(machine, touched, &others) else {
                continue;
            };
            let fault = Fault {
                instruction: load.instruction,
                memory: kernel.name_of(&load.memory),
                offset: load.offset,
                size: load.size,
                bytes: bytes_of(kernel, &launch, &load.memory),
            };
            return Some(Witness {
                is_unwritten: true,
                ..witness(machine, &launch, 0, *at, fault)
            });
        }
    }
    None
}

/// Whether an instruction may store to the memory of parameters in a way that runs with numbers do not follow.
fn stores_unseen(instruction: &Instruction) -> bool {
    let is_plain = !instruction.has("async") && !instruction.has("bulk");
    match instruction.opcode.as_str() {
        "st" | "atom" | "red" => !is_plain,
        "cp" => instruction.has("bulk"),
        "wmma" => instruction.has("store"),
        "call" => true,
        _ => false,
    }
}

/// The first load of a thread of a byte that holds nothing, that the thread has not stored to before, and that none of
/// these accesses of others stores to.
fn unwritten<'t>(machine: &Machine<'_>, touched: &'t [Touched], others: &[&Touched]) -> Option<&'t Touched> {
    let opcode = |touch: &Touched| machine.instruction(touch.instruction).opcode.as_str();
    let stores = |touch: &Touched, memory: &Memory, byte: i128| {
        let is_in = touch.memory == *memory && (touch.offset..touch.offset + i128::from(touch.size)).contains(&byte);
        is_in && !matches!(opcode(touch), "ld" | "ldu")
    };
    touched.iter().enumerate().find_map(|(index, load)| {
        if !machine.kernel.is_unwritten(&load.memory) || opcode(load) == "st" {
            return None;
        }
        let mut bytes = load.offset..load.offset + i128::from(load.size);
        let before = &touched[..index];
        let is_unwritten = bytes.any(|byte| {
            let mut all = before.iter().chain(others.iter().copied());
            !all.any(|touch| stores(touch, &load.memory, byte))
        });
        is_unwritten.then_some(load)
    })
}

/// The bytes of the memory of a parameter.
fn bytes_of(kernel: &Kernel, launch: &Launch, memory: &Memory) -> i128 {
    let Memory::Param(param) = memory else { return 0 };
    match kernel.params[*param].kind {
        Kind::Memory { unit: Some(unit), .. } => launch.arguments[*param] * i128::from(unit),
        _ => 0,
    }
}

fn witness(machine: &Machine<'_>, launch: &Launch, fill: u8, At { block, thread }: At, fault: Fault) -> Witness {
    let Fault {
        instruction,
        memory,
        offset,
        size,
        bytes,
    } = fault;
    Witness {
        launch: launch.clone(),
        fill,
        block,
        thread,
        line: machine.instruction(instruction).line,
        memory,
        offset,
        size,
        bytes,
        is_unwritten: false,
    }
}

/// The size of the launches to try.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Size {
    Least,
    Small,
    Large,
}

/// A launch that the contract admits.
fn launch(
    kernel: &Kernel,
    fixed: &[[Option<u32>; 3]; 2],
    most: u64,
    size: Size,
    numbers: &mut Numbers,
) -> Option<Launch> {
    let is_large = size == Size::Large;
    let dimensions = if size == Size::Least {
        1
    } else {
        numbers.of(&[1, 1, 1, 2, 3])
    };
    let mut grid = [1; 3];
    let mut block = [1; 3];
    for axis in 0..3 {
        if axis < dimensions {
            grid[axis] = match (is_large && axis == 0, numbers.next(2)) {
                (true, 0) => numbers.of(&LARGE_GRIDS),
                _ if size == Size::Least => numbers.of(&GRIDS[..2]),
                _ => numbers.of(&GRIDS),
            };
            block[axis] = if size == Size::Least {
                numbers.of(&BLOCKS[..4])
            } else {
                numbers.of(&BLOCKS)
            };
            if is_large && axis == 0 {
                block[axis] = numbers.of(&[1, 256, 1024]);
            }
        }
        grid[axis] = fixed[0][axis].unwrap_or(grid[axis]);
        block[axis] = fixed[1][axis].unwrap_or(block[axis]);
    }
    let threads: u64 = block.iter().map(|&side| u64::from(side)).product();
    if threads > most.min(1024) || block[2] > 64 || grid[1..].iter().any(|&side| side > 65_535) || threads == 0 {
        return None;
    }
    let arguments = kernel.params.iter().map(|param| match param.kind {
        Kind::Memory { len, .. } => i128::from(len.unwrap_or(0)),
        Kind::Integer { bits, signed } => {
            let value = if is_large && numbers.next(2) == 0 {
                numbers.of(&LARGE)
            } else {
                numbers.of(&SMALL)
            };
            let (low, high) = super::value::range_of(bits, signed);
            value.clamp(low, high)
        }
        Kind::Handle | Kind::Other => 0,
    });
    let arguments: Vec<i128> = arguments.collect();
    let mut launch = Launch {
        grid,
        block,
        shared: numbers.of(&[0, 0, 1024]),
        arguments,
    };
    let mut parts = Vec::new();
    kernel.requires.iter().for_each(|term| conjuncts(term, &mut parts));
    for _ in 0..3 {
        let mut holds = true;
        for part in &parts {
            if launch.admits(part) != Some(true) {
                holds = false;
                mend(&mut launch, kernel, part);
            }
        }
        if holds {
            return Some(launch);
        }
    }
    None
}

/// The conditions that `&&` joins.
fn conjuncts<'t>(term: &'t Term, parts: &mut Vec<&'t Term>) {
    match term {
        Term::Binary(Binary::And, left, right) => {
            conjuncts(left, parts);
            conjuncts(right, parts);
        }
        other => parts.push(other),
    }
}

/// Gives the lengths and values that a condition mentions the least values that make it hold.
fn mend(launch: &mut Launch, kernel: &Kernel, part: &Term) {
    let mut named = Vec::new();
    mentioned(part, &mut named);
    named.sort_by_key(|&param| {
        !matches!(
            kernel.params.get(param).map(|param| param.kind),
            Some(Kind::Memory { .. })
        )
    });
    // Most conditions are a bound of one length.
    if let Term::Binary(Binary::Le, bound, length) = part
        && let Term::Len(param) = **length
        && let Some(Kind::Memory { len: None, .. }) = kernel.params.get(param).map(|param| param.kind)
        && let Some(least) = launch.number(bound)
    {
        let old = std::mem::replace(&mut launch.arguments[param], least.clamp(0, MAX_LEN));
        if launch.admits(part) == Some(true) {
            return;
        }
        launch.arguments[param] = old;
    }
    for param in named {
        let Some(old) = launch.arguments.get(param).copied() else {
            continue;
        };
        let most = match kernel.params[param].kind {
            Kind::Memory { len: Some(_), .. } | Kind::Handle | Kind::Other => continue,
            Kind::Memory { .. } => MAX_LEN,
            Kind::Integer { bits, signed } => super::value::range_of(bits, signed).1,
        };
        let mut holds = |value: i128| {
            launch.arguments[param] = value;
            launch.admits(part) == Some(true)
        };
        let mut high = 1;
        while high < most && !holds(high) {
            high *= 2;
        }
        let mut high = high.min(most);
        if holds(0) {
            launch.arguments[param] = 0;
            return;
        }
        if !holds(high) {
            // An equation, for which no power of two may do.
            let small = (0..300).find(|&value| holds(value));
            launch.arguments[param] = small.unwrap_or(old);
            if small.is_some() {
                return;
            }
            continue;
        }
        let mut low = 0;
        while high - low > 1 {
            let middle = (low + high) / 2;
            if holds(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        launch.arguments[param] = high;
        return;
    }
}

fn mentioned(term: &Term, named: &mut Vec<usize>) {
    match term {
        Term::Value(param) | Term::Len(param) if !named.contains(param) => named.push(*param),
        Term::Unary(_, operand) => mentioned(operand, named),
        Term::Binary(_, left, right) => {
            mentioned(left, named);
            mentioned(right, named);
        }
        _ => {}
    }
}
