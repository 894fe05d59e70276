//! `atom` and `red`.

use std::sync::atomic::{
    AtomicU32,
    Ordering::{AcqRel, Acquire},
};

use super::Environment;
use super::check::{all_aligned, all_inside};
use super::memory::{read_bytes, write_bytes};
use super::update::apply;
use crate::code::{Atomic, AtomicOp as Op, DISCARD, IntegerType, NumberType, Space};
use crate::fault::{InLane, LaneFault, Operation};
use crate::memory::storage::Storage;
use crate::memory::view::Region;
use crate::state::address::{addresses, each_block, each_space};
use crate::state::{LANES, Registers, Warp, lanes};

/// Executes an atomic operation, lane after lane.
pub(crate) fn atomic(warp: &mut Warp, env: &mut Environment<'_>, mask: u32, op: &Atomic) -> Result<(), LaneFault> {
    let all = addresses(&warp.registers, &op.address);
    let bytes = op.ty.bytes();
    each_space(op.space, &all, mask, |space, at, mask| {
        all_aligned(Operation::Atomic, at, mask, bytes.into())?;
        match space {
            Space::Global | Space::Generic => global(&mut warp.registers, env, mask, op, at),
            Space::Shared => each_block(at, mask, |block, at, mask| {
                let (memory, name) = env.shared_of_mut(block);
                all_inside(Operation::Atomic, name, at, mask, bytes.into(), memory.len())?;
                shared(&mut warp.registers, memory, mask, op, at);
                Ok(())
            }),
            Space::Local => {
                let Warp { registers, local, .. } = &mut *warp;
                all_inside(Operation::Atomic, "local memory", at, mask, bytes.into(), local.len())?;
                for lane in lanes(mask) {
                    let old = local.load(lane, at[lane], bytes);
                    let (b, c) = operands(registers, op, lane);
                    local.store(lane, at[lane], bytes, apply(op.op, op.ty, old, b, c));
                    assign(registers, op, lane, old);
                }
                Ok(())
            }
            Space::Param => all_inside(Operation::Atomic, "the parameters", at, mask, bytes.into(), 0),
        }
    })
}

/// The operands in one lane.
#[inline(always)]
fn operands(registers: &Registers, op: &Atomic, lane: usize) -> (u64, u64) {
    let bytes = op.ty.bytes();
    let read = |slot| match (registers.read_lane(bytes == 8, slot, lane), bytes) {
        // The upper half of a 16-bit register's slot means nothing.
        (value, 2) => value & 0xffff,
        (value, _) => value,
    };
    (read(op.b), if op.op == Op::CompareExchange { read(op.c) } else { 0 })
}

/// Writes the old value to its register.
#[inline(always)]
fn assign(registers: &mut Registers, op: &Atomic, lane: usize, old: u64) {
    if op.d != DISCARD {
        registers.write_lane(op.ty.bytes() == 8, op.d, lane, old);
    }
}

fn shared(registers: &mut Registers, memory: &mut [u8], mask: u32, op: &Atomic, at: &[u64; LANES]) {
    let bytes = op.ty.bytes();
    for lane in lanes(mask) {
        let old = read_bytes(memory, at[lane], bytes);
        let (b, c) = operands(registers, op, lane);
        write_bytes(memory, at[lane], bytes, apply(op.op, op.ty, old, b, c));
        assign(registers, op, lane, old);
    }
}

fn global(
    registers: &mut Registers,
    env: &Environment<'_>,
    mask: u32,
    op: &Atomic,
    at: &[u64; LANES],
) -> Result<(), LaneFault> {
    let view = env.context.view;
    let bytes = op.ty.bytes();
    let mut region: Option<&Region> = None;
    for lane in lanes(mask) {
        let address = at[lane];
        let found = match region {
            Some(region) if region.contains(address, bytes.into()) => region,
            _ => view.find(Operation::Atomic, address, bytes.into()).in_lane(lane)?,
        };
        region = Some(found);
        let storage = found.storage();
        let (b, c) = operands(registers, op, lane);
        let old = match bytes {
            8 => update_pair(storage, address, op, b, c),
            4 => update_word(storage.word(address), op, b as u32, c as u32).into(),
            _ => update_half(storage, address, op, b, c),
        };
        assign(registers, op, lane, old);
    }
    Ok(())
}

const UNSIGNED: NumberType = NumberType::Integer(IntegerType::U32);

/// Updates 32 bits, by the host's own operation if it has one, else in a loop. Returns the old value.
fn update_word(word: &AtomicU32, op: &Atomic, b: u32, c: u32) -> u32 {
    match (op.op, op.ty) {
        (Op::Add, NumberType::Integer(_)) => word.fetch_add(b, AcqRel),
        (Op::And, _) => word.fetch_and(b, AcqRel),
        (Op::Or, _) => word.fetch_or(b, AcqRel),
        (Op::Xor, _) => word.fetch_xor(b, AcqRel),
        (Op::Exchange, _) => word.swap(b, AcqRel),
        (Op::Min, UNSIGNED) => word.fetch_min(b, AcqRel),
        (Op::Max, UNSIGNED) => word.fetch_max(b, AcqRel),
        (Op::CompareExchange, _) => word.compare_exchange(b, c, AcqRel, Acquire).unwrap_or_else(|old| old),
        (Op::Add | Op::Min | Op::Max | Op::Inc | Op::Dec, _) => {
            repeat(word, |old| apply(op.op, op.ty, old.into(), b.into(), c.into()) as u32)
        }
    }
}

/// Compares and swaps until no other thread interferes. Returns the old value.
fn repeat(word: &AtomicU32, update: impl Fn(u32) -> u32) -> u32 {
    word.fetch_update(AcqRel, Acquire, |old| Some(update(old)))
        .unwrap_or_else(|old| old)
}

/// Updates 16 bits of a word. Returns the old value.
fn update_half(storage: &Storage, address: u64, op: &Atomic, b: u64, c: u64) -> u64 {
    let shift = (address % 4 * 8) as u32;
    let old = repeat(storage.word(address), |word| {
        let half = u64::from(word >> shift & 0xffff);
        let new = apply(op.op, op.ty, half, b, c) as u32 & 0xffff;
        (word & !(0xffff << shift)) | new << shift
    });
    u64::from(old >> shift & 0xffff)
}

/// Updates 64 bits: two words, under the lock that all strong 64-bit accesses take. Returns the old value.
fn update_pair(storage: &Storage, address: u64, op: &Atomic, b: u64, c: u64) -> u64 {
    let _lock = Storage::lock_pair(address);
    let old = storage.load(address, 8);
    storage.store(address, 8, apply(op.op, op.ty, old, b, c));
    old
}
