//! The registers that may be read before they are written. They are cleared when a function is entered, so that a
//! program always reads the same from them. Other registers need not be cleared.
//!
//! A register is certain to be written at an instruction if an instruction without a guard writes it on every path
//! there.

use std::collections::{BTreeSet, HashMap};

use crate::code::{File, Instruction, Op, Register, Role};

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
    instructions: &mut [Instruction],
    start: u32,
    filled: impl IntoIterator<Item = Register>,
) -> Vec<Register> {
    let mut indices = HashMap::new();
    let mut index = |register: Register| {
        let next = indices.len();
        *indices.entry(register).or_insert(next)
    };
    // Reads and writes of each instruction, reads first.
    let accesses: Vec<Vec<(usize, Role)>> = instructions
        .iter_mut()
        .map(|instruction| {
            let mut all = Vec::new();
            let guarded = instruction.guard.is_some();
            if let Some(guard) = instruction.guard {
                all.push((index((File::Predicate, guard.predicate)), Role::Source));
            }
            instruction.op.visit(|file, role, slot| {
                if role == Role::Source || !guarded {
                    all.push((index((file, *slot)), role));
                }
            });
            all.sort_by_key(|&(_, role)| role == Role::Target);
            all
        })
        .collect();
    let filled: Vec<usize> = filled.into_iter().map(&mut index).collect();
    let mut entry = vec![0u64; indices.len().div_ceil(64)];
    filled.iter().for_each(|&register| set(&mut entry, register));
    let mut suspects = vec![0u64; entry.len()];
    solve(&mut runs(instructions, start), &accesses, entry, &mut suspects);
    let mut registers: Vec<Register> = indices
        .into_iter()
        .filter(|&(_, index)| suspects[index / 64] >> (index % 64) & 1 != 0)
        .map(|(register, _)| register)
        .collect();
    registers.sort();
    registers
}

fn set(bits: &mut [u64], index: usize) {
    bits[index / 64] |= 1 << (index % 64);
}

/// Follows all paths through the runs until nothing changes, and notes the registers that are read unwritten.
fn solve(runs: &mut [Run], accesses: &[Vec<(usize, Role)>], entry: Vec<u64>, suspects: &mut [u64]) {
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
        for &(register, role) in accesses[runs[run].start..runs[run].end].iter().flatten() {
            match role {
                Role::Target => set(&mut written, register),
                Role::Source if written[register / 64] >> (register % 64) & 1 == 0 => set(suspects, register),
                Role::Source => {}
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
fn runs(instructions: &[Instruction], start: u32) -> Vec<Run> {
    let targets = |op: &Op| -> Vec<usize> {
        let targets = op.targets().unwrap_or_default();
        targets.iter().map(|target| (target - start) as usize).collect()
    };
    let mut begins = vec![false; instructions.len() + 1];
    begins[0] = true;
    for (index, instruction) in instructions.iter().enumerate() {
        begins[index + 1] |= instruction.op.targets().is_some();
        targets(&instruction.op)
            .into_iter()
            .for_each(|target| begins[target] = true);
    }
    let starts: Vec<usize> = (0..instructions.len()).filter(|&index| begins[index]).collect();
    let run_at = |index: usize| starts.binary_search(&index).ok();
    let run = |(position, &first): (usize, &usize)| {
        let end = starts.get(position + 1).copied().unwrap_or(instructions.len());
        let last = &instructions[end - 1];
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
