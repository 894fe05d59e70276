//! Loads and stores of 32 bits a thread by a whole block at once, at addresses that form a [`Lattice`]: rows of words, one
//! word for a row, or anything else with fixed steps. Whatever else there is to see to, faults included, is left to
//! `exec::memory`, warp by warp.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::code::{Access, Address, Base, Space};
use crate::exec::Environment;
use crate::exec::address::window;
use crate::exec::fast::fits;
use crate::lattice::Lattice;
use crate::registers::Registers;
use crate::wide::dispatch;

dispatch! {
    /// Load a word in every thread; false where that is not done.
    fn load_rows(registers: &mut Registers, env: &Environment<'_>, op: &Access, side: usize) -> bool = load_all
}

dispatch! {
    /// Store a word in every thread; false where that is not done.
    fn store_rows(registers: &mut Registers, env: &mut Environment<'_>, op: &Access, side: usize) -> bool = store_all
}

/// Words of a memory: where the first thread's is, and the steps to its neighbours'.
#[derive(Clone, Copy)]
struct Walk {
    start: usize,
    across: isize,
    down: isize,
    side: usize,
}

/// Where an instruction goes: a lattice of aligned addresses in one space, and its bounds.
struct Target {
    space: Space,
    lattice: Lattice,
    least: u64,
    /// Bytes from the least address to the end of the last word.
    len: u64,
}

#[inline(always)]
fn target(registers: &mut Registers, space: Space, address: &Address, side: usize) -> Option<Target> {
    let lattice = match address.base {
        Base::R64(slot) => registers.find_lattice64(slot, side)?.offset(address.offset),
        Base::R32(slot) => registers.find_lattice32(slot, side)?.offset(address.offset),
        Base::Absolute => Lattice {
            base: address.offset as u64,
            across: 0,
            down: 0,
        },
        Base::Frame => return None,
    };
    if !(lattice.base | lattice.across as u64 | lattice.down as u64).is_multiple_of(4) {
        return None;
    }
    let (least, greatest) = lattice.bounds(side, registers.threads() / side)?;
    if matches!(address.base, Base::R32(_)) && greatest > u64::from(u32::MAX) {
        return None;
    }
    let (space, base) = match space {
        Space::Generic => window(least),
        space => (space, 0),
    };
    Some(Target {
        space,
        lattice: lattice.offset((base as i64).wrapping_neg()),
        least: least.wrapping_sub(base),
        len: greatest - least + 4,
    })
}

impl Target {
    /// The way through a memory that begins at an address.
    #[inline(always)]
    fn walk(&self, from: u64, side: usize, threads: usize) -> Walk {
        let (start, across, down) = (
            ((self.lattice.base - from) / 4) as usize,
            self.lattice.across as isize / 4,
            self.lattice.down as isize / 4,
        );
        let straight = down == across * side as isize;
        Walk {
            start,
            across,
            down,
            side: if straight { threads } else { side },
        }
    }
}

#[inline(always)]
fn load_all(registers: &mut Registers, env: &Environment<'_>, op: &Access, side: usize) -> bool {
    let Some(target) = target(registers, op.space, &op.address, side) else {
        return false;
    };
    let to = registers.rows32_mut(op.values[0]).as_flattened_mut();
    match target.space {
        Space::Global => {
            let Some(region) = env.context.view.readable(target.least, target.len) else {
                return false;
            };
            let walk = target.walk(region.storage().address(), side, to.len());
            fetch(to, walk, region.storage().words());
        }
        Space::Shared | Space::Param => {
            let memory = match target.space {
                Space::Shared => &*env.shared,
                _ => env.context.parameters,
            };
            if !fits(memory, target.least, target.len) {
                return false;
            }
            let walk = target.walk(0, side, to.len());
            fetch(to, walk, memory.as_chunks::<4>().0);
        }
        Space::Local | Space::Generic => return false,
    }
    true
}

#[inline(always)]
fn store_all(registers: &mut Registers, env: &mut Environment<'_>, op: &Access, side: usize) -> bool {
    let Some(target) = target(registers, op.space, &op.address, side) else {
        return false;
    };
    let values = registers.rows32(op.values[0]).as_flattened();
    match target.space {
        Space::Global => {
            let Some(region) = env.context.view.writable(target.least, target.len) else {
                return false;
            };
            let walk = target.walk(region.storage().address(), side, values.len());
            put(values, walk, region.storage().words());
            true
        }
        Space::Shared if fits(env.shared, target.least, target.len) => {
            let walk = target.walk(0, side, values.len());
            let words = env.shared.as_chunks_mut::<4>().0;
            for (row, start) in values.chunks_exact(walk.side).zip(walk.rows()) {
                if walk.across == 1 {
                    for (word, value) in words[start..start + walk.side].iter_mut().zip(row) {
                        *word = value.to_le_bytes();
                    }
                } else {
                    for (x, value) in row.iter().enumerate() {
                        words[walk.word(start, x)] = value.to_le_bytes();
                    }
                }
            }
            true
        }
        _ => false,
    }
}

impl Walk {
    /// The first word of each row.
    #[inline(always)]
    fn rows(self) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(self.start), move |start| {
            Some(start.wrapping_add_signed(self.down))
        })
    }

    /// A word of the row that begins with one.
    #[inline(always)]
    fn word(&self, start: usize, x: usize) -> usize {
        start.wrapping_add_signed(self.across * x as isize)
    }
}

/// Words that are copied without a loop around them.
const RUN: usize = 16;

/// A word of a memory.
trait Word: Sized {
    fn get(&self) -> u32;
    fn copy(words: &[Self; RUN], to: &mut [u32; RUN]);
}

impl Word for AtomicU32 {
    #[inline(always)]
    fn get(&self) -> u32 {
        self.load(Relaxed)
    }
    #[inline(always)]
    fn copy(words: &[AtomicU32; RUN], to: &mut [u32; RUN]) {
        for (to, word) in to.iter_mut().zip(words) {
            *to = word.load(Relaxed);
        }
    }
}

impl Word for [u8; 4] {
    #[inline(always)]
    fn get(&self) -> u32 {
        u32::from_le_bytes(*self)
    }
    #[inline(always)]
    fn copy(words: &[[u8; 4]; RUN], to: &mut [u32; RUN]) {
        // All are read before any is written, so that this takes few wide moves.
        let mut values = [0; RUN];
        for (value, word) in values.iter_mut().zip(words) {
            *value = u32::from_le_bytes(*word);
        }
        *to = values;
    }
}

#[inline(always)]
fn fetch<W: Word>(to: &mut [u32], walk: Walk, words: &[W]) {
    let rows = walk.rows();
    match walk.across {
        1 if walk.side == RUN => {
            for (to, start) in to.as_chunks_mut::<RUN>().0.iter_mut().zip(rows) {
                if let Some(words) = words[start..].first_chunk::<RUN>() {
                    W::copy(words, to);
                }
            }
        }
        1 => {
            for (to, start) in to.chunks_exact_mut(walk.side).zip(rows) {
                let ((to, rest), (words, last)) = (to.as_chunks_mut(), words[start..start + walk.side].as_chunks());
                for (to, words) in to.iter_mut().zip(words) {
                    W::copy(words, to);
                }
                for (to, word) in rest.iter_mut().zip(last) {
                    *to = word.get();
                }
            }
        }
        0 if walk.side == RUN => {
            for (to, start) in to.as_chunks_mut::<RUN>().0.iter_mut().zip(rows) {
                *to = [words[start].get(); RUN];
            }
        }
        0 => {
            for (to, start) in to.chunks_exact_mut(walk.side).zip(rows) {
                to.fill(words[start].get());
            }
        }
        _ => {
            for (to, start) in to.chunks_exact_mut(walk.side).zip(rows) {
                for (x, to) in to.iter_mut().enumerate() {
                    *to = words[walk.word(start, x)].get();
                }
            }
        }
    }
}

#[inline(always)]
fn put(values: &[u32], walk: Walk, words: &[AtomicU32]) {
    for (row, start) in values.chunks_exact(walk.side).zip(walk.rows()) {
        if walk.across == 1 {
            for (word, value) in words[start..start + walk.side].iter().zip(row) {
                word.store(*value, Relaxed);
            }
        } else {
            for (x, value) in row.iter().enumerate() {
                words[walk.word(start, x)].store(*value, Relaxed);
            }
        }
    }
}
