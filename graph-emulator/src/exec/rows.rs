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
        Base::R64(slot) => registers.lattice64(slot, side)?.offset(address.offset),
        Base::R32(slot) => registers.lattice32(slot, side)?.offset(address.offset),
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
            fetch(to, walk, region.storage().words(), |word| word.load(Relaxed));
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
            fetch(to, walk, memory.as_chunks::<4>().0, |word| u32::from_le_bytes(*word));
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
            for (y, row) in values.chunks_exact(walk.side).enumerate() {
                let start = walk.row(y);
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
    /// The first word of a row.
    #[inline(always)]
    fn row(&self, y: usize) -> usize {
        self.start.wrapping_add_signed(self.down * y as isize)
    }

    /// A word of the row that begins with one.
    #[inline(always)]
    fn word(&self, start: usize, x: usize) -> usize {
        start.wrapping_add_signed(self.across * x as isize)
    }
}

#[inline(always)]
fn fetch<W>(to: &mut [u32], walk: Walk, words: &[W], read: impl Fn(&W) -> u32) {
    for (y, to) in to.chunks_exact_mut(walk.side).enumerate() {
        let start = walk.row(y);
        match walk.across {
            1 => {
                for (to, word) in to.iter_mut().zip(&words[start..start + walk.side]) {
                    *to = read(word);
                }
            }
            0 => to.fill(read(&words[start])),
            _ => {
                for (x, to) in to.iter_mut().enumerate() {
                    *to = read(&words[walk.word(start, x)]);
                }
            }
        }
    }
}

#[inline(always)]
fn put(values: &[u32], walk: Walk, words: &[AtomicU32]) {
    for (y, row) in values.chunks_exact(walk.side).enumerate() {
        let start = walk.row(y);
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
