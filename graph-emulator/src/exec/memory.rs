//! Loads and stores. Global memory is shared with other blocks (atomic words, see [`Memory`](crate::Memory)); other
//! memory belongs to the block.

use std::sync::atomic::{Ordering, fence};

use super::Environment;
use super::check::{all_aligned, all_inside};
use super::words::{self, fits, is_simple};
use crate::code::{AsyncCopy, DISCARD, Space, Transfer};
use crate::fault::{LaneFault, Operation};
use crate::memory::storage::Storage;
use crate::memory::view::Region;
use crate::state::address::{addresses, each_block, each_space};
use crate::state::{FULL, LANES, Registers, Warp, first, lanes};

/// Executes a load.
pub(crate) fn load(warp: &mut Warp, env: &Environment<'_>, mask: u32, op: &Transfer) -> Result<(), LaneFault> {
    if is_simple(op, mask) && words::load(&mut warp.registers, env, op) {
        return Ok(());
    }
    let all = addresses(&warp.registers, &op.address);
    each_space(op.space, &all, mask, |space, at, mask| {
        all_aligned(Operation::Load, at, mask, op.total())?;
        match space {
            Space::Global | Space::Generic => load_global(warp, env, mask, op, at),
            Space::Shared => each_block(at, mask, |block, at, mask| {
                let (memory, name) = env.shared_of(block);
                load_bytes(warp, memory, name, mask, op, at)
            }),
            Space::Param => load_bytes(warp, env.context.parameters, "the parameters", mask, op, at),
            Space::Local => {
                all_inside(Operation::Load, "local memory", at, mask, op.total(), warp.local.len())?;
                let Warp { registers, local, .. } = warp;
                each_element(registers, mask, op, at, |lane, address| {
                    local.load(lane, address, op.bytes)
                });
                Ok(())
            }
        }
    })
}

/// Executes a store.
pub(crate) fn store(warp: &mut Warp, env: &mut Environment<'_>, mask: u32, op: &Transfer) -> Result<(), LaneFault> {
    if is_simple(op, mask) && words::store(&mut warp.registers, env, op) {
        return Ok(());
    }
    let all = addresses(&warp.registers, &op.address);
    each_space(op.space, &all, mask, |space, at, mask| {
        all_aligned(Operation::Store, at, mask, op.total())?;
        match space {
            Space::Global | Space::Generic => store_global(&warp.registers, env, mask, op, at),
            Space::Shared => each_block(at, mask, |block, at, mask| {
                store_shared(&warp.registers, env.shared_of_mut(block), mask, op, at)
            }),
            Space::Param => {
                // Kernel parameters are read-only: for a store, they have no bytes.
                all_inside(Operation::Store, "the parameters", at, mask, op.total(), 0)
            }
            Space::Local => {
                all_inside(Operation::Store, "local memory", at, mask, op.total(), warp.local.len())?;
                let Warp { registers, local, .. } = warp;
                each_value(registers, mask, op, at, |lane, address, value| {
                    local.store(lane, address, op.bytes, value);
                });
                Ok(())
            }
        }
    })
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
    if op.wide {
        registers.set(d, mask, values);
    } else {
        registers.set(d, mask, values.map(|value| value as u32));
    }
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
        let values = if op.wide {
            *registers.get64(slot)
        } else {
            registers.get32(slot).map(u64::from)
        };
        for lane in lanes(mask) {
            write(lane, at[lane] + u64::from(element) * u64::from(op.bytes), values[lane]);
        }
    }
}

fn load_global(
    warp: &mut Warp,
    env: &Environment<'_>,
    mask: u32,
    op: &Transfer,
    at: &[u64; LANES],
) -> Result<(), LaneFault> {
    let view = env.context.view;
    let permitted = |address, bytes: u64| {
        let readable = view.readable(address, bytes);
        readable.or_else(|| view.mapped(op.strong, op.bytes, address, bytes))
    };
    each_region(
        env,
        Operation::Load,
        mask,
        op,
        at,
        permitted,
        |storage, lane, address| {
            load_lane(&mut warp.registers, op, storage, lane, address);
        },
    )?;
    if op.strong {
        fence(Ordering::Acquire);
    }
    Ok(())
}

/// Loads all elements of one lane.
#[inline(always)]
fn load_lane(registers: &mut Registers, op: &Transfer, storage: &Storage, lane: usize, address: u64) {
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
    op: &Transfer,
    at: &[u64; LANES],
) -> Result<(), LaneFault> {
    let view = env.context.view;
    if op.strong {
        fence(Ordering::Release);
    }
    let permitted = |address, bytes: u64| {
        let writable = view.writable(address, bytes);
        writable.or_else(|| view.mapped(op.strong, op.bytes, address, bytes))
    };
    each_region(
        env,
        Operation::Store,
        mask,
        op,
        at,
        permitted,
        |storage, lane, address| {
            store_lane(registers, op, storage, lane, address);
        },
    )
}

/// Calls `each` with the memory and the address of each lane. `permitted` finds the memory that may be accessed at an
/// address; lanes that follow are usually in the same.
#[inline(always)]
fn each_region<'a>(
    env: &Environment<'a>,
    operation: Operation,
    mask: u32,
    op: &Transfer,
    at: &[u64; LANES],
    permitted: impl Fn(u64, u64) -> Option<&'a Region>,
    mut each: impl FnMut(&Storage, usize, u64),
) -> Result<(), LaneFault> {
    let total = op.total();
    let mut region = permitted(at[first(mask)], 1);
    for lane in lanes(mask) {
        let address = at[lane];
        if !region.is_some_and(|region| region.contains(address, total.into())) {
            region = permitted(address, total.into());
        }
        let Some(region) = region else {
            return Err(LaneFault::new(
                lane,
                env.context.view.explain(operation, address, total),
            ));
        };
        each(region.storage(), lane, address);
    }
    Ok(())
}

#[inline(always)]
fn store_lane(registers: &Registers, op: &Transfer, storage: &Storage, lane: usize, address: u64) {
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

/// Reads aligned bytes; the caller has checked the bounds.
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
    warp: &mut Warp,
    memory: &[u8],
    name: &str,
    mask: u32,
    op: &Transfer,
    at: &[u64; LANES],
) -> Result<(), LaneFault> {
    let registers = &mut warp.registers;
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

fn store_shared(
    registers: &Registers,
    (shared, name): (&mut [u8], &str),
    mask: u32,
    op: &Transfer,
    at: &[u64; LANES],
) -> Result<(), LaneFault> {
    all_inside(Operation::Store, name, at, mask, op.total(), shared.len())?;
    each_value(registers, mask, op, at, |_, address, value| {
        write_bytes(shared, address, op.bytes, value);
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
    let view = env.context.view;
    for lane in lanes(mask) {
        let read = op.bytes_read(&warp.registers, lane);
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
