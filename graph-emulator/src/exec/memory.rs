//! Loads and stores. Global memory is shared with other blocks (atomic words, see [`Memory`](crate::Memory)); all else
//! belongs to the block.

use std::sync::atomic::{Ordering::Relaxed, fence};

use crate::code::{Access, Address, AsyncCopy, Base, DISCARD, Slot, Space};
use crate::exec::address::{
    Pattern, addresses, check_alignment, check_bounds, each_space, lanes, pattern, pattern32, window,
};
use crate::exec::{Environment, LaneFault, Warp};
use crate::fault::Operation;
use crate::memory::Storage;
use crate::registers::{FULL, LANES, Registers, each};
use crate::view::Region;
use crate::wide::dispatch;

dispatch! {
    fn load_fast(registers: &mut Registers, env: &Environment<'_>, op: &Access) -> bool = load_fast_lanes
}

dispatch! {
    fn store_fast(registers: &mut Registers, env: &mut Environment<'_>, op: &Access) -> bool = store_fast_lanes
}

/// Execute a load.
pub(crate) fn load(warp: &mut Warp, env: &Environment<'_>, mask: u32, op: &Access) -> Result<(), LaneFault> {
    if simple(op, mask) && load_fast(&mut warp.registers, env, op) {
        return Ok(());
    }
    let all = addresses(&warp.registers, &op.address);
    each_space(op.space, &all, mask, |space, at, mask| {
        check_alignment(Operation::Load, at, mask, op.total())?;
        match space {
            Space::Global | Space::Generic => load_global(warp, env, mask, op, at),
            Space::Shared => load_bytes(warp, env.shared, "shared memory", mask, op, at),
            Space::Param => load_bytes(warp, env.context.parameters, "the parameters", mask, op, at),
            Space::Local => {
                check_bounds(Operation::Load, "local memory", at, mask, op.total(), warp.local.len())?;
                let Warp { registers, local, .. } = warp;
                each_element(registers, mask, op, at, |lane, address| {
                    local.load(lane, address, op.bytes)
                });
                Ok(())
            }
        }
    })
}

/// Execute a store.
pub(crate) fn store(warp: &mut Warp, env: &mut Environment<'_>, mask: u32, op: &Access) -> Result<(), LaneFault> {
    if simple(op, mask) && store_fast(&mut warp.registers, env, op) {
        return Ok(());
    }
    let all = addresses(&warp.registers, &op.address);
    each_space(op.space, &all, mask, |space, at, mask| {
        check_alignment(Operation::Store, at, mask, op.total())?;
        match space {
            Space::Global | Space::Generic => store_global(&warp.registers, env, mask, op, at),
            Space::Shared => store_shared(&warp.registers, env.shared, mask, op, at),
            Space::Param => {
                // Kernel parameters are read-only: nothing of them is within the bounds of a store.
                check_bounds(Operation::Store, "the parameters", at, mask, op.total(), 0)
            }
            Space::Local => {
                check_bounds(Operation::Store, "local memory", at, mask, op.total(), warp.local.len())?;
                for element in 0..op.count {
                    let value = value(&warp.registers, op, element);
                    for lane in lanes(mask) {
                        let address = at[lane] + u64::from(element) * u64::from(op.bytes);
                        warp.local.store(lane, address, op.bytes, value[lane]);
                    }
                }
                Ok(())
            }
        }
    })
}

impl Access {
    /// Bytes of all elements together, which is also the alignment needed.
    #[inline(always)]
    fn total(&self) -> u32 {
        u32::from(self.bytes) * u32::from(self.count)
    }
}

/// Read each element in each lane with `read(lane, address)`, extend it, and write it to its register.
#[inline(always)]
fn each_element(
    registers: &mut Registers,
    mask: u32,
    op: &Access,
    at: &[u64; LANES],
    read: impl Fn(usize, u64) -> u64,
) {
    for element in 0..op.count {
        let mut values = [0; LANES];
        for lane in lanes(mask) {
            values[lane] = read(lane, at[lane] + u64::from(element) * u64::from(op.bytes));
        }
        assign(registers, mask, op, element, values);
    }
}

/// Extend what was loaded and write it to the register of an element.
#[inline(always)]
fn assign(registers: &mut Registers, mask: u32, op: &Access, element: u8, mut values: [u64; LANES]) {
    let d = op.values[usize::from(element)];
    if d == DISCARD {
        return;
    }
    if op.signed {
        let shift = 64 - 8 * u32::from(op.bytes);
        values = values.map(|value| ((value << shift) as i64 >> shift) as u64);
    }
    if op.wide {
        registers.set(d, mask, values);
    } else {
        registers.set(d, mask, values.map(|value| value as u32));
    }
}

/// What is stored in an element, in all lanes.
#[inline(always)]
fn value(registers: &Registers, op: &Access, element: u8) -> [u64; LANES] {
    let slot = op.values[usize::from(element)];
    if op.wide {
        *registers.get64(slot)
    } else {
        registers.get32(slot).map(u64::from)
    }
}

/// Can the access be done 32 bits a lane, one register, nothing else to see to?
#[inline(always)]
fn simple(op: &Access, mask: u32) -> bool {
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

fn load_global(
    warp: &mut Warp,
    env: &Environment<'_>,
    mask: u32,
    op: &Access,
    at: &[u64; LANES],
) -> Result<(), LaneFault> {
    let view = env.context.view;
    let mut region = view.readable(at[mask.trailing_zeros() as usize % LANES], 1);
    let total = op.total();
    for lane in lanes(mask) {
        let address = at[lane];
        if !region.is_some_and(|region| region.contains(address, total.into())) {
            region = view.readable(address, total.into());
        }
        let Some(region) = region else {
            return Err(LaneFault::new(lane, view.explain(Operation::Load, address, total)));
        };
        load_lane(&mut warp.registers, op, region.storage(), lane, address);
    }
    if op.strong {
        fence(std::sync::atomic::Ordering::Acquire);
    }
    Ok(())
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

/// All elements of one lane.
#[inline(always)]
fn load_lane(registers: &mut Registers, op: &Access, storage: &Storage, lane: usize, address: u64) {
    for element in 0..op.count {
        let d = op.values[usize::from(element)];
        let address = address + u64::from(element) * u64::from(op.bytes);
        let lock = (op.strong && op.bytes == 8).then(|| Storage::lock_pair(address));
        let mut value = storage.load(address, op.bytes);
        drop(lock);
        if d == DISCARD {
            continue;
        }
        if op.signed {
            let shift = 64 - 8 * u32::from(op.bytes);
            value = ((value << shift) as i64 >> shift) as u64;
        }
        if op.wide {
            registers.get64_mut(d)[lane] = value;
        } else {
            registers.get32_mut(d)[lane] = value as u32;
        }
    }
}

fn store_global(
    registers: &Registers,
    env: &Environment<'_>,
    mask: u32,
    op: &Access,
    at: &[u64; LANES],
) -> Result<(), LaneFault> {
    let view = env.context.view;
    if op.strong {
        fence(std::sync::atomic::Ordering::Release);
    }
    let total = op.total();
    let mut region = view.writable(at[mask.trailing_zeros() as usize % LANES], 1);
    for lane in lanes(mask) {
        let address = at[lane];
        if !region.is_some_and(|region| region.contains(address, total.into())) {
            region = view.writable(address, total.into());
        }
        let Some(region) = region else {
            return Err(LaneFault::new(lane, view.explain(Operation::Store, address, total)));
        };
        store_lane(registers, op, region.storage(), lane, address);
    }
    Ok(())
}

#[inline(always)]
fn store_lane(registers: &Registers, op: &Access, storage: &Storage, lane: usize, address: u64) {
    for element in 0..op.count {
        let slot = op.values[usize::from(element)];
        let value = if op.wide {
            registers.get64(slot)[lane]
        } else {
            u64::from(registers.get32(slot)[lane])
        };
        let address = address + u64::from(element) * u64::from(op.bytes);
        let lock = (op.strong && op.bytes == 8).then(|| Storage::lock_pair(address));
        storage.store(address, op.bytes, value);
        drop(lock);
    }
}

/// Do so many bytes from an address on lie in a memory?
#[inline(always)]
fn fits(memory: &[u8], address: u64, bytes: u64) -> bool {
    (memory.len() as u64)
        .checked_sub(bytes)
        .is_some_and(|last| address <= last)
}

/// Read aligned bytes that are there.
#[inline(always)]
pub(crate) fn read_bytes(memory: &[u8], address: u64, bytes: u8) -> u64 {
    let start = address as usize;
    let mut value = [0; 8];
    match bytes {
        8 => value = memory[start..start + 8].try_into().unwrap_or_default(),
        4 => value[..4].copy_from_slice(&memory[start..start + 4]),
        2 => value[..2].copy_from_slice(&memory[start..start + 2]),
        _ => value[0] = memory[start],
    }
    u64::from_le_bytes(value)
}

/// Write aligned bytes that are there.
#[inline(always)]
pub(crate) fn write_bytes(memory: &mut [u8], address: u64, bytes: u8, value: u64) {
    let start = address as usize;
    let value = value.to_le_bytes();
    match bytes {
        8 => memory[start..start + 8].copy_from_slice(&value),
        4 => memory[start..start + 4].copy_from_slice(&value[..4]),
        2 => memory[start..start + 2].copy_from_slice(&value[..2]),
        _ => memory[start] = value[0],
    }
}

/// Load from the shared memory or the parameters.
fn load_bytes(
    warp: &mut Warp,
    memory: &[u8],
    name: &str,
    mask: u32,
    op: &Access,
    at: &[u64; LANES],
) -> Result<(), LaneFault> {
    let registers = &mut warp.registers;
    if mask == FULL
        && op.count == 1
        && pattern(at, op.bytes.into()) == Pattern::Uniform
        && fits(memory, at[0], op.total().into())
    {
        assign(registers, mask, op, 0, [read_bytes(memory, at[0], op.bytes); LANES]);
        return Ok(());
    }
    check_bounds(Operation::Load, name, at, mask, op.total(), memory.len())?;
    each_element(registers, mask, op, at, |_, address| {
        read_bytes(memory, address, op.bytes)
    });
    Ok(())
}

fn store_shared(
    registers: &Registers,
    shared: &mut [u8],
    mask: u32,
    op: &Access,
    at: &[u64; LANES],
) -> Result<(), LaneFault> {
    check_bounds(Operation::Store, "shared memory", at, mask, op.total(), shared.len())?;
    for element in 0..op.count {
        let value = value(registers, op, element);
        for lane in lanes(mask) {
            write_bytes(
                shared,
                at[lane] + u64::from(element) * u64::from(op.bytes),
                op.bytes,
                value[lane],
            );
        }
    }
    Ok(())
}

/// `cp.async`: global to shared memory, at once.
pub(crate) fn async_copy(
    warp: &mut Warp,
    env: &mut Environment<'_>,
    mask: u32,
    op: &AsyncCopy,
) -> Result<(), LaneFault> {
    let (to, from) = (addresses(&warp.registers, &op.to), addresses(&warp.registers, &op.from));
    let bytes = u32::from(op.bytes);
    check_alignment(Operation::Load, &from, mask, bytes)?;
    check_alignment(Operation::Store, &to, mask, bytes)?;
    check_bounds(Operation::Store, "shared memory", &to, mask, bytes, env.shared.len())?;
    let view = env.context.view;
    for lane in lanes(mask) {
        let read = match op.source_bytes {
            DISCARD => bytes,
            slot => warp.registers.get32(slot)[lane].min(bytes),
        };
        let region = view.readable(from[lane], read.into());
        if read != 0 && region.is_none() {
            return Err(LaneFault::new(lane, view.explain(Operation::Load, from[lane], read)));
        }
        for byte in 0..u64::from(bytes) {
            let inside = byte < u64::from(read);
            let value = region
                .filter(|_| inside)
                .map_or(0, |region| region.storage().load(from[lane] + byte, 1));
            write_bytes(env.shared, to[lane] + byte, 1, value);
        }
    }
    Ok(())
}
