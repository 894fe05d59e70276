//! The most frequent loads and stores: 32 bits a lane in a full warp, in a row, at one address, or anywhere in shared
//! memory. Whatever else there is to see to, faults included, is left to `exec::memory`.

use std::sync::atomic::Ordering::Relaxed;

use crate::code::{Access, Address, Base, DISCARD, Slot, Space};
use crate::exec::Environment;
use crate::exec::address::{Pattern, pattern32, window};
use crate::map::each;
use crate::registers::{FULL, LANES, Registers};
use crate::view::Region;
use crate::wide::dispatch;

dispatch! {
    fn load_fast(registers: &mut Registers, env: &Environment<'_>, op: &Access) -> bool = load_fast_lanes
}

dispatch! {
    fn store_fast(registers: &mut Registers, env: &mut Environment<'_>, op: &Access) -> bool = store_fast_lanes
}

/// Can the access be done 32 bits a lane, one register, nothing else to see to?
#[inline(always)]
pub(crate) fn simple(op: &Access, mask: u32) -> bool {
    mask == FULL && op.bytes == 4 && op.count == 1 && !op.wide && !op.strong && op.values[0] != DISCARD
}

/// The first address and how the others follow; without the addresses themselves.
#[inline(always)]
fn span(registers: &mut Registers, address: &Address) -> (u64, Pattern) {
    let offset = address.offset as u64;
    match address.base {
        Base::R64(slot) => (
            registers.get64(slot)[0].wrapping_add(offset),
            registers.shape(slot).pattern,
        ),
        Base::R32(slot) => {
            let base = registers.get32(slot);
            let first = base[0].wrapping_add(offset as u32);
            // Addresses that wrap around are left to the slow path.
            let wraps = first > u32::MAX - 128 || base[0] > u32::MAX - 128;
            (
                first.into(),
                if wraps { Pattern::Scattered } else { pattern32(base, 4) },
            )
        }
        Base::Absolute => (offset, Pattern::Uniform),
        Base::Frame => (0, Pattern::Scattered),
    }
}

/// Loads of 32 words in a row, of one word for all lanes, or from anywhere in shared memory. False where this does not
/// apply, and where anything is wrong.
#[inline(always)]
fn load_fast_lanes(registers: &mut Registers, env: &Environment<'_>, op: &Access) -> bool {
    let (first, pattern) = span(registers, &op.address);
    if first % 4 != 0 {
        return false;
    }
    let (space, first) = match op.space {
        Space::Generic => {
            let (space, base) = window(first);
            (space, first - base)
        }
        space => (space, first),
    };
    let d = op.values[0];
    let bytes = if pattern == Pattern::Contiguous { 128 } else { 4 };
    match space {
        Space::Global if pattern != Pattern::Scattered => match env.context.view.readable(first, bytes) {
            Some(region) => load_words(registers, d, region, first, bytes),
            None => return false,
        },
        Space::Shared | Space::Param => {
            let memory = if space == Space::Shared {
                &*env.shared
            } else {
                env.context.parameters
            };
            if pattern == Pattern::Scattered && op.space != Space::Generic {
                return gather(registers, memory, op);
            }
            if pattern == Pattern::Scattered || !fits(memory, first, bytes) {
                return false;
            }
            let (words, _) = memory[first as usize..first as usize + bytes as usize].as_chunks::<4>();
            if let Ok(row) = <&[[u8; 4]; LANES]>::try_from(words) {
                let to = registers.get32_mut(d);
                for lane in 0..LANES {
                    to[lane] = u32::from_le_bytes(row[lane]);
                }
            } else {
                *registers.get32_mut(d) = [u32::from_le_bytes(words[0]); LANES];
            }
        }
        _ => return false,
    }
    true
}

/// A word for each lane from anywhere in a memory.
#[inline(always)]
fn gather(registers: &mut Registers, memory: &[u8], op: &Access) -> bool {
    match op.address.base {
        Base::R64(slot) => gather64(registers, memory, op, slot),
        Base::R32(slot) => {
            let (words, _) = memory.as_chunks::<4>();
            let (base, offset) = (registers.get32(slot), op.address.offset as u32);
            // An address that is not aligned has its low bits on top, and so is out of bounds.
            let indices = each(|lane| base[lane].wrapping_add(offset).rotate_right(2));
            if indices.iter().fold(0, |highest, &index| index.max(highest)) as usize >= words.len() {
                return false;
            }
            *registers.get32_mut(op.values[0]) = each(|lane| u32::from_le_bytes(words[indices[lane] as usize]));
            true
        }
        Base::Frame | Base::Absolute => false,
    }
}

/// The same from 64-bit addresses, whose bounds are known.
#[inline(always)]
fn gather64(registers: &mut Registers, memory: &[u8], op: &Access, slot: Slot) -> bool {
    let (shape, offset) = (registers.shape(slot), op.address.offset);
    let (Some(least), Some(greatest)) = (
        shape.least.checked_add_signed(offset),
        shape.greatest.checked_add_signed(offset),
    ) else {
        return false;
    };
    if !shape.in_step || least % 4 != 0 || !fits(memory, greatest, 4) {
        return false;
    }
    let (words, _) = memory.as_chunks::<4>();
    let base = *registers.get64(slot);
    let to = registers.get32_mut(op.values[0]);
    for (to, base) in to.iter_mut().zip(base) {
        *to = u32::from_le_bytes(words[(base.wrapping_add_signed(offset) / 4) as usize]);
    }
    true
}

/// Stores of 32 words in a row.
#[inline(always)]
fn store_fast_lanes(registers: &mut Registers, env: &mut Environment<'_>, op: &Access) -> bool {
    let (first, pattern) = span(registers, &op.address);
    if first % 4 != 0 || pattern != Pattern::Contiguous {
        return false;
    }
    let values = registers.get32(op.values[0]);
    match op.space {
        Space::Global => {
            let Some(region) = env.context.view.writable(first, 128) else {
                return false;
            };
            let start = ((first - region.storage().address()) / 4) as usize;
            for (word, value) in region.storage().words()[start..start + LANES].iter().zip(values) {
                word.store(*value, Relaxed);
            }
            true
        }
        Space::Shared if fits(env.shared, first, 128) => {
            let (words, _) = env.shared[first as usize..first as usize + 128].as_chunks_mut::<4>();
            for (word, value) in words.iter_mut().zip(values) {
                *word = value.to_le_bytes();
            }
            true
        }
        _ => false,
    }
}

/// 32 words in a row, or one for all lanes.
#[inline(always)]
fn load_words(registers: &mut Registers, d: Slot, region: &Region, address: u64, span: u64) {
    let storage = region.storage();
    if span == 4 {
        *registers.get32_mut(d) = [storage.word(address).load(Relaxed); LANES];
        return;
    }
    let start = ((address - storage.address()) / 4) as usize;
    let words = &storage.words()[start..start + LANES];
    for (to, word) in registers.get32_mut(d).iter_mut().zip(words) {
        *to = word.load(Relaxed);
    }
}

/// Do so many bytes from an address on lie in a memory?
#[inline(always)]
pub(crate) fn fits(memory: &[u8], address: u64, bytes: u64) -> bool {
    (memory.len() as u64)
        .checked_sub(bytes)
        .is_some_and(|last| address <= last)
}
