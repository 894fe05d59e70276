//! The registers that may be read before they are written. They are cleared when a function is entered, so that a
//! program always reads the same from them. Other registers need not be cleared.
//!
//! A register is certain to be written at an instruction if an instruction without a guard writes it on every path
//! there.

use std::collections::BTreeSet;

use super::Decoded;
use crate::code::{File, FrameSize, Op, Register};

/// Instructions in a row that are executed one after the other.
struct Run {
    start: usize,
    end: usize,
    next: Vec<usize>,
    /// The registers that are certain to be written when it begins; `None` until a path to it is found.
    written: Option<Vec<u64>>,
}

/// The registers of a function that may be read before they are written. `filled` are the registers that have a value
/// when the function is entered.
pub(super) fn unassigned(
    instructions: &[Decoded],
    start: u32,
    frame: FrameSize,
    filled: impl IntoIterator<Item = Register>,
) -> Vec<Register> {
    let registers: Vec<Register> = frame.registers().collect();
    let mut entry = vec![0u64; registers.len().div_ceil(64)];
    filled
        .into_iter()
        .for_each(|register| set(&mut entry, frame.index(register)));
    let mut suspects = vec![0u64; entry.len()];
    solve(
        &mut runs(instructions, start),
        instructions,
        frame,
        entry,
        &mut suspects,
    );
    let is_suspect = |&(index, _): &(usize, Register)| is_set(&suspects, index);
    let suspected = registers.into_iter().enumerate().filter(is_suspect);
    suspected.map(|(_, register)| register).collect()
}

fn is_set(bits: &[u64], index: usize) -> bool {
    bits[index / 64] >> (index % 64) & 1 != 0
}

fn set(bits: &mut [u64], index: usize) {
    bits[index / 64] |= 1 << (index % 64);
}

/// Follows all paths through the runs until nothing changes, and notes the registers that are read unwritten.
fn solve(runs: &mut [Run], instructions: &[Decoded], frame: FrameSize, entry: Vec<u64>, suspects: &mut [u64]) {
    let Some(first) = runs.first_mut() else {
        return;
    };
    first.written = Some(entry);
    // In the order of the program, which is close to the order of execution.
    let mut left = BTreeSet::from([0]);
    while let Some(run) = left.pop_first() {
        let Some(mut written) = runs[run].written.clone() else {
            continue;
        };
        for decoded in &instructions[runs[run].start..runs[run].end] {
            let guard = decoded
                .instruction
                .guard
                .map(|guard| (File::Predicate, guard.predicate));
            for source in guard
                .into_iter()
                .chain(decoded.sources())
                .map(|source| frame.index(source))
            {
                if !is_set(&written, source) {
                    set(suspects, source);
                }
            }
            if guard.is_none() {
                decoded
                    .targets()
                    .for_each(|target| set(&mut written, frame.index(target)));
            }
        }
        for next in runs[run].next.clone() {
            let changed = match &mut runs[next].written {
                None => {
                    runs[next].written = Some(written.clone());
                    true
                }
                Some(known) => {
                    let mut changed = false;
                    for (known, written) in known.iter_mut().zip(&written) {
                        changed |= *known & !written != 0;
                        *known &= written;
                    }
                    changed
                }
            };
            if changed {
                left.insert(next);
            }
        }
    }
}

/// Splits a function into runs.
fn runs(instructions: &[Decoded], start: u32) -> Vec<Run> {
    let targets = |op: &Op| -> Vec<usize> {
        let targets = op.targets().unwrap_or_default();
        targets.iter().map(|target| (target - start) as usize).collect()
    };
    let mut begins = vec![false; instructions.len() + 1];
    begins[0] = true;
    for (index, Decoded { instruction, .. }) in instructions.iter().enumerate() {
        begins[index + 1] |= instruction.op.targets().is_some();
        targets(&instruction.op)
            .into_iter()
            .for_each(|target| begins[target] = true);
    }
    let starts: Vec<usize> = (0..instructions.len()).filter(|&index| begins[index]).collect();
    let run_at = |index: usize| starts.binary_search(&index).ok();
    let run = |(position, &first): (usize, &usize)| {
        let end = starts.get(position + 1).copied().unwrap_or(instructions.len());
        let last = &instructions[end - 1].instruction;
        let falls = last.op.targets().is_none() || last.guard.is_some();
        let mut next: Vec<usize> = targets(&last.op).into_iter().filter_map(run_at).collect();
        next.extend(falls.then(|| run_at(end)).flatten());
        Run {
            start: first,
            end,
            next,
            written: None,
        }
    };
    starts.iter().enumerate().map(run).collect()
}
