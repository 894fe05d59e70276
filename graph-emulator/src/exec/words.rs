//! The most frequent loads and stores: 32 bits in every lane of a warp, or in every thread of a block.
//!
//! Addresses must be affine: rows of words, one word for a row, or any other fixed steps. Loads of a warp may also be
//! from any addresses in shared memory or the parameters. `exec::memory` does all other accesses, and finds all faults.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::Environment;
use crate::code::{Address, Base, DISCARD, Space, Transfer, window};
use crate::state::address::addresses;
use crate::state::affine::Affine;
use crate::state::vector::dispatch;
use crate::state::{FULL, Registers, each};

/// Whether an access may be one of those here: 32 bits in every lane, and not `volatile` or stronger.
#[inline(always)]
pub(crate) fn is_simple(op: &Transfer, mask: u32) -> bool {
    mask == FULL && op.bytes == 4 && op.count == 1 && !op.wide && !op.strong && op.values[0] != DISCARD
}

dispatch! {
    /// Loads a word in every thread; returns false, and does nothing, if the addresses are of another kind.
    fn load(registers: &mut Registers, env: &Environment<'_>, op: &Transfer) -> bool = load_all
}

dispatch! {
    /// Stores a word in every thread; returns false, and does nothing, if the addresses are of another kind.
    fn store(registers: &mut Registers, env: &mut Environment<'_>, op: &Transfer) -> bool = store_all
}

/// The words of a memory that threads access: the index of the first thread's word, and the steps to its neighbours'.
#[derive(Clone, Copy)]
struct Walk {
    start: usize,
    across: isize,
    down: isize,
    width: usize,
}

/// The addresses of an instruction: affine and aligned, in one space, with their bounds.
struct Span {
    space: Space,
    affine: Affine,
    least: u64,
    /// Bytes from the least address to the end of the last word.
    len: u64,
}

#[inline(always)]
fn span(registers: &mut Registers, space: Space, address: &Address) -> Option<Span> {
    let affine = match address.base {
        Base::R64(slot) => registers.find_affine::<u64>(slot)?.offset(address.offset),
        Base::R32(slot) => registers.find_affine::<u32>(slot)?.offset(address.offset),
        Base::Absolute => Affine::uniform(address.offset as u64),
        Base::Frame => return None,
    };
    if !(affine.base | affine.across as u64 | affine.down as u64).is_multiple_of(4) {
        return None;
    }
    let (least, greatest) = affine.bounds(registers.row_width(), registers.row_count())?;
    if matches!(address.base, Base::R32(_)) && greatest > u64::from(u32::MAX) {
        return None;
    }
    let (space, base) = match space {
        Space::Generic => window(least),
        space => (space, 0),
    };
    Some(Span {
        space,
        affine: affine.offset((base as i64).wrapping_neg()),
        least: least.wrapping_sub(base),
        len: greatest - least + 4,
    })
}

impl Span {
    /// The words that are accessed in a memory that begins at `from`.
    #[inline(always)]
    fn walk(&self, from: u64, width: usize, threads: usize) -> Walk {
        let start = ((self.affine.base - from) / 4) as usize;
        let across = self.affine.across as isize / 4;
        let down = self.affine.down as isize / 4;
        let straight = down == across * width as isize;
        Walk {
            start,
            across,
            down,
            width: if straight { threads } else { width },
        }
    }
}

#[inline(always)]
fn load_all(registers: &mut Registers, env: &Environment<'_>, op: &Transfer) -> bool {
    let Some(span) = span(registers, op.space, &op.address) else {
        return gather(registers, env, op);
    };
    let width = registers.row_width();
    let to = registers.rows_mut::<u32>(op.values[0]).as_flattened_mut();
    match span.space {
        Space::Global => {
            let Some(region) = env.context.view.readable(span.least, span.len) else {
                return false;
            };
            let walk = span.walk(region.storage().address(), width, to.len());
            fetch(to, walk, region.storage().words());
        }
        Space::Shared | Space::Param | Space::Local | Space::Generic => {
            let Some(memory) = small_memory(env, span.space) else {
                return false;
            };
            if !fits(memory, span.least, span.len) {
                return false;
            }
            let walk = span.walk(0, width, to.len());
            fetch(to, walk, memory.as_chunks::<4>().0);
        }
    }
    true
}

/// The shared memory or the parameters, which are plain bytes.
#[inline(always)]
fn small_memory<'a>(env: &'a Environment<'_>, space: Space) -> Option<&'a [u8]> {
    match space {
        Space::Shared => Some(env.shared),
        Space::Param => Some(env.context.parameters),
        Space::Global | Space::Local | Space::Generic => None,
    }
}

#[inline(always)]
fn store_all(registers: &mut Registers, env: &mut Environment<'_>, op: &Transfer) -> bool {
    let Some(span) = span(registers, op.space, &op.address) else {
        return false;
    };
    let width = registers.row_width();
    let values = registers.rows::<u32>(op.values[0]).as_flattened();
    match span.space {
        Space::Global => {
            let Some(region) = env.context.view.writable(span.least, span.len) else {
                return false;
            };
            let walk = span.walk(region.storage().address(), width, values.len());
            put(values, walk, region.storage().words());
            true
        }
        Space::Shared if fits(env.shared, span.least, span.len) => {
            let walk = span.walk(0, width, values.len());
            let words = env.shared.as_chunks_mut::<4>().0;
            for (row, start) in values.chunks_exact(walk.width).zip(walk.rows()) {
                if walk.across == 1 {
                    for (word, value) in words[start..start + walk.width].iter_mut().zip(row) {
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
        Space::Shared | Space::Param | Space::Local | Space::Generic => false,
    }
}

/// Loads a word in each lane of a warp from anywhere in shared memory or the parameters.
#[inline(always)]
fn gather(registers: &mut Registers, env: &Environment<'_>, op: &Transfer) -> bool {
    let (Some(memory), 1) = (small_memory(env, op.space), registers.count()) else {
        return false;
    };
    let (words, _) = memory.as_chunks::<4>();
    let at = addresses(registers, &op.address);
    // The rotation makes an address that is not aligned so large that it is out of bounds.
    let indices = each(|lane| at[lane].rotate_right(2));
    if indices.iter().fold(0, |highest, &index| index.max(highest)) >= words.len() as u64 {
        return false;
    }
    *registers.get32_mut(op.values[0]) = each(|lane| u32::from_le_bytes(words[indices[lane] as usize]));
    true
}

impl Walk {
    /// The first word of each row.
    #[inline(always)]
    fn rows(self) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(self.start), move |start| {
            Some(start.wrapping_add_signed(self.down))
        })
    }

    /// The word of a thread in the row that begins at `start`.
    #[inline(always)]
    fn word(&self, start: usize, x: usize) -> usize {
        start.wrapping_add_signed(self.across * x as isize)
    }
}

/// The number of words that are copied without a loop.
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
        // All are read before any is written, so that the compiler makes few wide moves of it.
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
        1 if walk.width == RUN => {
            for (to, start) in to.as_chunks_mut::<RUN>().0.iter_mut().zip(rows) {
                if let Some(words) = words[start..].first_chunk::<RUN>() {
                    W::copy(words, to);
                }
            }
        }
        1 => {
            for (to, start) in to.chunks_exact_mut(walk.width).zip(rows) {
                let ((to, rest), (words, last)) = (to.as_chunks_mut(), words[start..start + walk.width].as_chunks());
                for (to, words) in to.iter_mut().zip(words) {
                    W::copy(words, to);
                }
                for (to, word) in rest.iter_mut().zip(last) {
                    *to = word.get();
                }
            }
        }
        0 if walk.width == RUN => {
            for (to, start) in to.as_chunks_mut::<RUN>().0.iter_mut().zip(rows) {
                *to = [words[start].get(); RUN];
            }
        }
        0 => {
            for (to, start) in to.chunks_exact_mut(walk.width).zip(rows) {
                to.fill(words[start].get());
            }
        }
        _ => {
            for (to, start) in to.chunks_exact_mut(walk.width).zip(rows) {
                for (x, to) in to.iter_mut().enumerate() {
                    *to = words[walk.word(start, x)].get();
                }
            }
        }
    }
}

#[inline(always)]
fn put(values: &[u32], walk: Walk, words: &[AtomicU32]) {
    for (row, start) in values.chunks_exact(walk.width).zip(walk.rows()) {
        if walk.across == 1 {
            for (word, value) in words[start..start + walk.width].iter().zip(row) {
                word.store(*value, Relaxed);
            }
        } else {
            for (x, value) in row.iter().enumerate() {
                words[walk.word(start, x)].store(*value, Relaxed);
            }
        }
    }
}

/// Whether `bytes` bytes from an address on are in a memory.
#[inline(always)]
pub(crate) fn fits(memory: &[u8], address: u64, bytes: u64) -> bool {
    (memory.len() as u64)
        .checked_sub(bytes)
        .is_some_and(|last| address <= last)
}
