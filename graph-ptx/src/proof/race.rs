//! Races within a kernel: two threads that access one element, at least one by a plain store, with no barrier between.
//!
//! # Why there is none, if [`Races::Free`] says so
//!
//! The address of an access is `c1 * d1 + c2 * d2 + .. + r`: digits `d` with coefficients `c` that are the same for all
//! threads. If each rest from a digit on is at least 0 and at most its coefficient less the size of an access, two
//! accesses overlap only if all of their digits are equal. If the digits tell the thread, it is one thread.
//!
//! Dimensions that a kernel never asks for are taken to be 1, and launches to have at most 2^32 threads. Barriers of a
//! block are taken to be met by all of its threads at one place of the code, as CUDA demands.
//!
//! A race that is found is one of two threads that were run with numbers, before either did anything that could order
//! it after the other.

use super::concrete::{At, Threads, Touched};
use super::facts::Meaning;
use super::flow::{End, Flow};
use super::machine::{Machine, Touch, Touching};
use super::opcode::is_barrier;
use super::poly::{Monomial, Poly, Symbol};
use super::value::Memory;
use super::{Gap, Launch, fixed, witness};
use crate::ast::{Body, Operand, Space};

/// The most threads of a launch in which races are looked for.
const MAX_THREADS: u64 = 128;
/// The launches in which races are looked for.
const MAX_LAUNCHES: usize = 24;
/// The instructions of one thread.
const MAX_STEPS: usize = 600;

/// The races of a kernel, as far as they were found.
#[derive(Clone, Debug, PartialEq)]
pub enum Races {
    /// No two threads race.
    Free,
    /// Two threads race in this launch.
    Found(Box<Race>),
    /// It is not known, because of an access on this line of the PTX.
    Unknown(u32),
}

/// Two threads that race.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race {
    /// The launch, and the arguments: values, and lengths of memory.
    pub launch: Launch,
    /// The memory.
    pub memory: String,
    /// The two accesses; the first one writes.
    pub accesses: [RaceAccess; 2],
}

/// An access of a race.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RaceAccess {
    /// The block of the thread.
    pub block: [u32; 3],
    /// The thread in it.
    pub thread: [u32; 3],
    /// Whether it writes.
    pub writes: bool,
    /// The line of the PTX.
    pub line: u32,
    /// The bytes from the beginning of the memory.
    pub offset: i128,
    /// The bytes that are accessed.
    pub size: u64,
}

/// Whether threads of a kernel race that was run with symbols.
pub(super) fn races(mut machine: Machine<'_>) -> Races {
    let Err(line) = free(&mut machine) else {
        return Races::Free;
    };
    let Machine {
        function, body, kernel, ..
    } = machine;
    let unread = axes(body).map(|group| group.map(|reads| !reads));
    let mut sides = fixed::sides(kernel, function);
    for (group, unread) in sides.iter_mut().zip(unread) {
        for (side, unread) in group.iter_mut().zip(unread) {
            if unread {
                *side = side.or(Some(1));
            }
        }
    }
    let threads = Threads::of(&machine);
    for launch in witness::small(&machine, &sides, MAX_LAUNCHES, MAX_THREADS) {
        let touched = threads.all(&launch).flat_map(|thread| {
            let touches = thread.touches(MAX_STEPS).into_iter();
            touches.map(move |touch| (thread.at, touch))
        });
        let mut touched: Vec<(At, Touched)> = touched.collect();
        if let Some((first, second)) = race(&mut touched, launch.block) {
            let access = |(at, touch): &(At, Touched)| RaceAccess {
                block: at.block,
                thread: at.thread,
                writes: touch.writes,
                line: body.instructions[touch.instruction].line,
                offset: touch.offset,
                size: touch.size,
            };
            let accesses = [access(&first), access(&second)];
            return Races::Found(Box::new(Race {
                launch,
                memory: kernel.name_of(&first.1.memory),
                accesses,
            }));
        }
    }
    Races::Unknown(line)
}

/// Two of these accesses that race, the one that writes first.
fn race(touched: &mut [(At, Touched)], block: [u32; 3]) -> Option<((At, Touched), (At, Touched))> {
    touched.sort_by(|(_, a), (_, b)| (&a.memory, a.offset).cmp(&(&b.memory, b.offset)));
    let warp = |[x, y, z]: [u32; 3]| (x + block[0] * (y + block[1] * z)) / 32;
    for (index, (one, first)) in touched.iter().enumerate() {
        let later = touched[index + 1..].iter().take_while(|(_, second)| {
            second.memory == first.memory && second.offset < first.offset + i128::from(first.size)
        });
        for (other, second) in later {
            let is_same = first.value.is_some() && first.value == second.value && first.offset == second.offset;
            let stores = first.writes && second.writes;
            // Whether two stores are of one value is not always known.
            let differs = !stores || first.value.is_some() && second.value.is_some() && !is_same;
            let ordered = if one.block == other.block {
                first.barriers != second.barriers
                    || warp(one.thread) == warp(other.thread) && first.meetings != second.meetings
            } else {
                first.is_shared
            };
            if one != other && (first.writes || second.writes) && differs && !ordered {
                let pair = ((*one, first.clone()), (*other, second.clone()));
                return Some(if first.writes { pair } else { (pair.1, pair.0) });
            }
        }
    }
    None
}

/// For blocks and for threads, whether the kernel asks for its place along each axis.
fn axes(body: &Body) -> [[bool; 3]; 2] {
    let mut reads = [[false; 3]; 2];
    let mut look = |operand: &Operand| {
        if let Operand::Special(name) = operand {
            let (group, axis) = name.trim_start_matches('%').split_once('.').unwrap_or((name, ""));
            let group = match group {
                "ctaid" | "nctaid" => 0,
                "tid" | "ntid" => 1,
                // The number of a lane or a warp is of all axes.
                "laneid" | "warpid" => {
                    reads[1] = [true; 3];
                    return;
                }
                _ => return,
            };
            if let Some(axis) = ["x", "y", "z"].iter().position(|known| *known == axis) {
                reads[group][axis] = true;
            }
        }
    };
    for instruction in &body.instructions {
        crate::ast::each_leaf(&instruction.operands, &mut look);
    }
    reads
}

/// Shows that no accesses race; else the line of one that may.
fn free(machine: &mut Machine<'_>) -> Result<(), u32> {
    let line = |machine: &Machine<'_>, instruction: usize| machine.body.instructions[instruction].line;
    let is_followed = |gap: &Gap| {
        matches!(
            gap,
            Gap::Bounds { .. } | Gap::Alignment(_) | Gap::Size | Gap::Unwritten { .. }
        )
    };
    if let Some(open) = machine.open.iter().find(|open| !is_followed(&open.gap)) {
        return Err(line(machine, open.instruction));
    }
    let needed = needed(machine);
    let regions = regions(machine.body, &machine.flow);
    let mut touched = std::mem::take(&mut machine.touched);
    for touch in &mut touched {
        touch.memory = touch.memory.itself(machine.module, machine.body);
    }
    let mut memories: Vec<&Memory> = Vec::new();
    for touch in &touched {
        if !memories.contains(&&touch.memory) {
            memories.push(&touch.memory);
        }
    }
    for memory in memories {
        let space = machine.space_of(memory);
        let all: Vec<&Touch> = touched.iter().filter(|touch| touch.memory == *memory).collect();
        let Some(written) = all.iter().find(|touch| touch.how == Touching::Write) else {
            continue;
        };
        let needed = match space {
            Some(Space::Local) => continue,
            Some(Space::Shared) => needed & THREADS,
            _ => needed,
        };
        let size = all
            .iter()
            .map(|touch| touch.bytes)
            .reduce(|a, b| Some(a?.max(b?)))
            .flatten();
        let Some(size) = size else {
            return Err(line(machine, written.instruction));
        };
        let base = constant_of(machine, &written.from);
        let digits: Vec<Option<Digits>> = all.iter().map(|touch| digits(machine, touch, &base, size)).collect();
        for (index, first) in all.iter().enumerate() {
            for (other, second) in all.iter().enumerate().skip(index) {
                let writes = first.how == Touching::Write || second.how == Touching::Write;
                let meets = space != Some(Space::Shared)
                    || is_late(machine, first)
                    || is_late(machine, second)
                    || regions[first.instruction]
                        .iter()
                        .any(|region| regions[second.instruction].contains(region));
                if !writes || !meets {
                    continue;
                }
                let apart = match (&digits[index], &digits[other]) {
                    (Some(a), Some(b)) => a.digits == b.digits && (a.told | (a.pinned & b.pinned)) & needed == needed,
                    _ => false,
                };
                if !apart {
                    return Err(line(machine, first.instruction.max(second.instruction)));
                }
            }
        }
    }
    Ok(())
}

/// The digits of an address, the lowest first: their coefficients, and what they tell of the thread.
#[derive(Debug)]
struct Digits {
    digits: Vec<(Poly, Coordinates)>,
    /// The coordinates that the digits tell.
    told: Coordinates,
    /// The coordinates that are 0 wherever the access is made.
    pinned: Coordinates,
}

/// A bit for each coordinate: of the thread in its block, then of the block.
type Coordinates = u8;

const THREADS: Coordinates = 0b111;

/// The coordinates in which threads differ.
fn needed(machine: &Machine<'_>) -> Coordinates {
    let [of_block, of_thread] = axes(machine.body);
    let mut needed = 0;
    for (axis, (by_block, by_thread)) in of_block.into_iter().zip(of_thread).enumerate() {
        let (thread, block) = machine.place_of_thread(axis);
        if by_thread && thread.value().is_none() {
            needed |= 1 << axis;
        }
        if by_block && block.value().is_none() {
            needed |= 8 << axis;
        }
    }
    needed
}

/// Whether an access may happen after barriers that follow it: that of a copy which the thread has not waited for.
fn is_late(machine: &Machine<'_>, touch: &Touch) -> bool {
    machine.instruction(touch.instruction).opcode == "cp"
}

/// The sum of the terms that are the same in all threads.
fn constant_of(machine: &Machine<'_>, poly: &Poly) -> Poly {
    let mut sum = Poly::default();
    for (monomial, coefficient) in poly.terms() {
        if monomial.symbols().all(|symbol| machine.is_common(symbol)) {
            sum = sum
                .combine(1, &Poly::constant(*coefficient), monomial, 1)
                .unwrap_or(sum);
        }
    }
    sum
}

/// The digits of an access, if its address has some.
fn digits(machine: &mut Machine<'_>, touch: &Touch, base: &Poly, size: i128) -> Option<Digits> {
    let found = split(machine, touch.place, &touch.from, base, size)?;
    let told = found.iter().fold(0, |all, (_, told)| all | told);
    let mut pinned = 0;
    for axis in 0..3 {
        let (thread, block) = machine.place_of_thread(axis);
        for (bits, poly) in [(1 << axis, thread), (8 << axis, block)] {
            if poly
                .negated()
                .is_some_and(|negated| machine.facts.proves(touch.place, &negated))
            {
                pinned |= bits;
            }
        }
        if let Some(symbol) = machine.place_in_grid(axis) {
            let negated = Poly::symbol(symbol).negated();
            if negated.is_some_and(|negated| machine.facts.proves(touch.place, &negated)) {
                pinned |= 9 << axis;
            }
        }
    }
    Some(Digits {
        digits: found,
        told,
        pinned,
    })
}

/// The digits of a polynomial, the lowest first.
fn split(
    machine: &mut Machine<'_>,
    place: usize,
    poly: &Poly,
    base: &Poly,
    size: i128,
) -> Option<Vec<(Poly, Coordinates)>> {
    let mut lower = Poly::default();
    let mut left: Vec<(Symbol, Poly)> = Vec::new();
    for (monomial, coefficient) in poly.terms() {
        let mut varying = monomial.symbols().filter(|&symbol| !machine.is_common(symbol));
        let (first, second) = (varying.next(), varying.next());
        let one = Poly::constant(*coefficient);
        match (first, second) {
            (None, _) => lower = lower.combine(1, &one, monomial, 1)?,
            (Some(symbol), None) => {
                let (rest, _) = monomial.without_common(&Monomial::of(symbol));
                let known = left.iter_mut().find(|(known, _)| *known == symbol);
                match known {
                    Some((_, known)) => *known = known.combine(1, &one, &rest, 1)?,
                    None => left.push((symbol, Poly::default().combine(1, &one, &rest, 1)?)),
                }
            }
            _ => return None,
        }
    }
    lower = lower.minus(base)?;
    // Small coefficients first: those of fewer symbols, then the lesser ones.
    let order = |poly: &Poly| {
        let degree = poly
            .terms()
            .iter()
            .map(|(monomial, _)| monomial.symbols().count())
            .max();
        (degree, poly.terms().first().map(|(_, coefficient)| *coefficient))
    };
    left.sort_by_key(|(_, coefficient)| order(coefficient));
    let mut found = Vec::new();
    for (symbol, coefficient) in left {
        let above = coefficient.minus(&lower)?.plus_constant(-size)?;
        if !machine.facts.proves(place, &lower) || !machine.facts.proves(place, &above) {
            return None;
        }
        found.push((coefficient.clone(), told_by(machine, place, symbol)));
        lower = lower.plus(&coefficient.times(&Poly::symbol(symbol))?)?;
    }
    Some(found)
}

/// The coordinates that a symbol tells.
fn told_by(machine: &mut Machine<'_>, place: usize, symbol: Symbol) -> Coordinates {
    for axis in 0..3 {
        let (thread, block) = machine.place_of_thread(axis);
        for (bits, poly) in [(1 << axis, thread), (8 << axis, block)] {
            if poly.as_symbol() == Some(symbol) {
                return bits;
            }
        }
    }
    // The number of a thread in the launch, which does not wrap around.
    let Meaning::Wrapped { value, bits: 32, .. } = machine.facts.info(symbol).meaning.clone() else {
        return 0;
    };
    let digits = split(machine, place, &value, &Poly::default(), 1).unwrap_or_default();
    if digits.iter().any(|(_, told)| *told == 0) {
        return 0;
    }
    digits.iter().fold(0, |all, (_, told)| all | told)
}

/// For each instruction, the barriers after which it may be run with no other barrier between: 0 is the beginning.
fn regions(body: &Body, flow: &Flow) -> Vec<Vec<usize>> {
    let mut regions = vec![Vec::new(); body.instructions.len()];
    let barriers = body
        .instructions
        .iter()
        .enumerate()
        .filter(|(_, instruction)| is_barrier(instruction));
    let starts: Vec<usize> = std::iter::once(0).chain(barriers.map(|(index, _)| index + 1)).collect();
    for (region, start) in starts.into_iter().enumerate() {
        let mut open = vec![start];
        while let Some(index) = open.pop() {
            let Some(instruction) = body.instructions.get(index) else {
                continue;
            };
            if regions[index].last() == Some(&region) {
                continue;
            }
            regions[index].push(region);
            // A barrier that a guard may skip is none.
            if is_barrier(instruction) {
                continue;
            }
            match flow.end(instruction, body) {
                End::Next => open.push(index + 1),
                End::Jump(targets) => {
                    open.extend(targets);
                    open.extend(instruction.guard.map(|_| index + 1));
                }
                End::Leave | End::Unknown => open.extend(instruction.guard.map(|_| index + 1)),
            }
        }
    }
    regions
}
