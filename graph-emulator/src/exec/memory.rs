//! Loads and stores. Global memory is shared with other blocks (atomic words, see [`Memory`](crate::Memory)); other
//! memory belongs to the block.

use std::sync::MutexGuard;
use std::sync::atomic::{Ordering, fence};

use super::Environment;
use super::check::{all_aligned, all_inside};
use super::words::{self, fits, is_simple};
use crate::code::{AsyncCopy, DISCARD, Space, Transfer};
use crate::fault::{InLane, LaneFault, Operation};
use crate::memory::storage::Storage;
use crate::state::address::{addresses, each_block, each_space};
use crate::state::{FULL, LANES, Registers, Warp, first, lanes};

/// Executes a load.
pub(crate) fn load(warp: &mut Warp, env: &Environment<'_>, mask: u32, op: &Transfer) -> Result<(), LaneFault> {
    if is_simple(op, mask) && words::load(&mut warp.registers, env, op) {
        return Ok(());
    }
    let Warp { registers, local, .. } = warp;
    let all = addresses(registers, &op.address);
    each_space(op.space, &all, mask, |space, at, mask| {
        all_aligned(Operation::Load, at, mask, op.total())?;
        match space {
            Space::Global | Space::Generic => {
                let storages = storages(env, Operation::Load, mask, op, at)?;
                let _whole = lock_whole(op);
                each_element(registers, mask, op, at, |lane, address| {
                    let _lock = lock(op, address);
                    storages[lane].load(address, op.bytes)
                });
                if op.strong {
                    fence(Ordering::Acquire);
                }
            }
            Space::Shared => each_block(at, mask, |block, at, mask| {
                let (memory, name) = env.shared_of(block);
                load_bytes(registers, memory, name, mask, op, at)
            })?,
            Space::Param => load_bytes(registers, env.context.parameters, "the parameters", mask, op, at)?,
            Space::Local => {
                all_inside(Operation::Load, "local memory", at, mask, op.total(), local.len())?;
                each_element(registers, mask, op, at, |lane, address| {
                    local.load(lane, address, op.bytes)
                });
            }
        }
        Ok(())
    })
}

/// Executes a store.
pub(crate) fn store(warp: &mut Warp, env: &mut Environment<'_>, mask: u32, op: &Transfer) -> Result<(), LaneFault> {
    if is_simple(op, mask) && words::store(&mut warp.registers, env, op) {
        return Ok(());
    }
    let Warp { registers, local, .. } = warp;
    let all = addresses(registers, &op.address);
    each_space(op.space, &all, mask, |space, at, mask| {
        all_aligned(Operation::Store, at, mask, op.total())?;
        match space {
            Space::Global | Space::Generic => {
                if op.strong {
                    fence(Ordering::Release);
                }
                let storages = storages(env, Operation::Store, mask, op, at)?;
                let _whole = lock_whole(op);
                each_value(registers, mask, op, at, |lane, address, value| {
                    let _lock = lock(op, address);
                    storages[lane].store(address, op.bytes, value);
                });
            }
            Space::Shared => each_block(at, mask, |block, at, mask| {
                let (memory, name) = env.shared_of_mut(block);
                all_inside(Operation::Store, name, at, mask, op.total(), memory.len())?;
                each_value(registers, mask, op, at, |_, address, value| {
                    write_bytes(memory, address, op.bytes, value);
                });
                Ok(())
            })?,
            // Kernel parameters are read-only: for a store, they have no bytes.
            Space::Param => all_inside(Operation::Store, "the parameters", at, mask, op.total(), 0)?,
            Space::Local => {
                all_inside(Operation::Store, "local memory", at, mask, op.total(), local.len())?;
                each_value(registers, mask, op, at, |lane, address, value| {
                    local.store(lane, address, op.bytes, value);
                });
            }
        }
        Ok(())
    })
}

/// The memory that each lane of `mask` accesses, which permits it. Lanes that follow are usually in the same.
#[inline(always)]
fn storages<'a>(
    env: &Environment<'a>,
    operation: Operation,
    mask: u32,
    op: &Transfer,
    at: &[u64; LANES],
) -> Result<[&'a Storage; LANES], LaneFault> {
    let (view, total) = (env.context.view, op.total());
    let find = |lane: usize| {
        let address = at[lane];
        let permitted = view.permitted(operation, address, total);
        let permitted = permitted.or_else(|| view.mapped(op.strong, op.bytes, address, total.into()));
        permitted.ok_or_else(|| LaneFault::new(lane, view.explain(operation, address, total)))
    };
    let mut region = find(first(mask))?;
    let mut storages = [region.storage(); LANES];
    for lane in lanes(mask) {
        if !region.contains(at[lane], total.into()) {
            region = find(lane)?;
        }
        storages[lane] = region.storage();
    }
    Ok(storages)
}

/// The lock that makes 64 bits indivisible, if an access must be.
#[inline(always)]
fn lock(op: &Transfer, address: u64) -> Option<MutexGuard<'static, ()>> {
    (op.strong && op.bytes == 8).then(|| Storage::lock_pair(address))
}

/// The lock that makes 128 bits indivisible, if an access must be.
#[inline(always)]
fn lock_whole(op: &Transfer) -> Option<MutexGuard<'static, ()>> {
    (op.strong && op.whole).then(Storage::lock_whole)
}

/// Reads each element in each lane with `read(lane, address)`, extends it, and writes it to its register.
#[inline(always)]
fn each_element(
    registers: &mut Registers,
    mask: u32,
    op: &Transfer,
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

/// Extends loaded values and writes them to the register of an element.
#[inline(always)]
fn assign(registers: &mut Registers, mask: u32, op: &Transfer, element: u8, mut values: [u64; LANES]) {
    let d = op.values[usize::from(element)];
    if d == DISCARD {
        return;
    }
    if op.signed {
        let shift = 64 - 8 * u32::from(op.bytes);
        values = values.map(|value| ((value << shift) as i64 >> shift) as u64);
    }
    registers.write(op.wide, d, mask, values);
}

/// Calls `write(lane, address, value)` for the value to store in each element in each lane.
#[inline(always)]
fn each_value(
    registers: &Registers,
    mask: u32,
    op: &Transfer,
    at: &[u64; LANES],
    mut write: impl FnMut(usize, u64, u64),
) {
    for element in 0..op.count {
        let slot = op.values[usize::from(element)];
        let values = registers.read(op.wide, slot);
        for lane in lanes(mask) {
            write(lane, at[lane] + u64::from(element) * u64::from(op.bytes), values[lane]);
        }
    }
}

/// Reads aligned bytes; the caller has checked the bounds. Each size is read as a number of its own: a processor waits
/// where it reads eight bytes back of which only some were just written.
#[inline(always)]
pub(crate) fn read_bytes(memory: &[u8], address: u64, bytes: u8) -> u64 {
    let start = address as usize;
    match bytes {
        8 => u64::from_le_bytes(memory[start..start + 8].try_into().unwrap_or_default()),
        4 => u32::from_le_bytes(memory[start..start + 4].try_into().unwrap_or_default()).into(),
        2 => u16::from_le_bytes(memory[start..start + 2].try_into().unwrap_or_default()).into(),
        _ => memory[start].into(),
    }
}

/// Writes aligned bytes; the caller has checked the bounds.
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

/// Loads from the shared memory or the parameters.
fn load_bytes(
    registers: &mut Registers,
    memory: &[u8],
    name: &str,
    mask: u32,
    op: &Transfer,
    at: &[u64; LANES],
) -> Result<(), LaneFault> {
    if mask == FULL
        && op.count == 1
        && at.iter().fold(0, |differs, address| differs | (address ^ at[0])) == 0
        && fits(memory, at[0], op.total().into())
    {
        assign(registers, mask, op, 0, [read_bytes(memory, at[0], op.bytes); LANES]);
        return Ok(());
    }
    all_inside(Operation::Load, name, at, mask, op.total(), memory.len())?;
    each_element(registers, mask, op, at, |_, address| {
        read_bytes(memory, address, op.bytes)
    });
    Ok(())
}

/// `cp.async`: copies from global to shared memory, at once.
pub(crate) fn async_copy(
    warp: &mut Warp,
    env: &mut Environment<'_>,
    mask: u32,
    op: &AsyncCopy,
) -> Result<(), LaneFault> {
    let (to, from) = (addresses(&warp.registers, &op.to), addresses(&warp.registers, &op.from));
    let bytes = u32::from(op.bytes);
    all_aligned(Operation::Load, &from, mask, bytes)?;
    all_aligned(Operation::Store, &to, mask, bytes)?;
    all_inside(Operation::Store, "shared memory", &to, mask, bytes, env.shared.len())?;
    for lane in lanes(mask) {
        let read = op.bytes_read(&warp.registers, lane);
        let region = (read != 0).then(|| env.context.view.find(Operation::Load, from[lane], read));
        let region = region.transpose().in_lane(lane)?;
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
