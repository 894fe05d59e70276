//! `atom` and `red`.

use std::sync::atomic::{
    AtomicU32,
    Ordering::{AcqRel, Acquire},
};

use half::{bf16, f16};

use super::Environment;
use super::check::{all_aligned, all_inside};
use super::memory::{read_bytes, write_bytes};
use super::number::{maximum, minimum};
use crate::code::{Atomic, AtomicOp as Op, AtomicType as Ty, DISCARD, Space};
use crate::fault::{LaneFault, Operation};
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
                all_inside(
                    Operation::Atomic,
                    "local memory",
                    at,
                    mask,
                    bytes.into(),
                    warp.local.len(),
                )?;
                for lane in lanes(mask) {
                    let old = warp.local.load(lane, at[lane], bytes);
                    let new = warp.update(op, lane, old);
                    warp.local.store(lane, at[lane], bytes, new);
                    assign(&mut warp.registers, op, lane, old);
                }
                Ok(())
            }
            Space::Param => all_inside(Operation::Atomic, "the parameters", at, mask, bytes.into(), 0),
        }
    })
}

impl Warp {
    fn update(&self, op: &Atomic, lane: usize, old: u64) -> u64 {
        let (b, c) = operands(&self.registers, op, lane);
        apply(op.op, op.ty, old, b, c)
    }
}

/// The operands in one lane.
#[inline(always)]
fn operands(registers: &Registers, op: &Atomic, lane: usize) -> (u64, u64) {
    let read = |slot| match op.ty.bytes() {
        8 => registers.get64(slot)[lane],
        4 => u64::from(registers.get32(slot)[lane]),
        // The upper half of a 16-bit register's slot means nothing.
        _ => u64::from(registers.get32(slot)[lane] & 0xffff),
    };
    (read(op.b), if op.op == Op::CompareExchange { read(op.c) } else { 0 })
}

/// Writes the old value to its register.
#[inline(always)]
fn assign(registers: &mut Registers, op: &Atomic, lane: usize, old: u64) {
    if op.d == DISCARD {
        return;
    }
    match op.ty.bytes() {
        8 => registers.get64_mut(op.d)[lane] = old,
        _ => registers.get32_mut(op.d)[lane] = old as u32,
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
    let mut region = None;
    for lane in lanes(mask) {
        let address = at[lane];
        if !region.is_some_and(|region: &Region| region.contains(address, bytes.into())) {
            region = view.updatable(address, bytes.into());
        }
        let Some(region) = region else {
            return Err(LaneFault::new(
                lane,
                view.explain(Operation::Atomic, address, bytes.into()),
            ));
        };
        let (b, c) = operands(registers, op, lane);
        let old = match bytes {
            8 => update_pair(region.storage(), address, op, b, c),
            4 => update_word(region.storage().word(address), op, b as u32, c as u32).into(),
            _ => update_half(region.storage(), address, op, b, c),
        };
        assign(registers, op, lane, old);
    }
    Ok(())
}

/// Updates 32 bits, by the host's own operation if it has one, else in a loop. Returns the old value.
fn update_word(word: &AtomicU32, op: &Atomic, b: u32, c: u32) -> u32 {
    match (op.op, op.ty) {
        (Op::Add, Ty::B32 | Ty::S32) => word.fetch_add(b, AcqRel),
        (Op::And, _) => word.fetch_and(b, AcqRel),
        (Op::Or, _) => word.fetch_or(b, AcqRel),
        (Op::Xor, _) => word.fetch_xor(b, AcqRel),
        (Op::Exchange, _) => word.swap(b, AcqRel),
        (Op::Min, Ty::B32) => word.fetch_min(b, AcqRel),
        (Op::Max, Ty::B32) => word.fetch_max(b, AcqRel),
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

/// The new value of memory.
#[inline(always)]
fn apply(op: Op, ty: Ty, old: u64, b: u64, c: u64) -> u64 {
    match (op, ty) {
        (Op::Add, Ty::F32) => {
            let sum = f32::from_bits(old as u32) + f32::from_bits(b as u32);
            if sum.is_nan() {
                0x7fff_ffff
            } else {
                sum.to_bits().into()
            }
        }
        (Op::Add, Ty::F64) => (f64::from_bits(old) + f64::from_bits(b)).to_bits(),
        (_, Ty::F16 | Ty::F16x2 | Ty::Bf16 | Ty::Bf16x2) => halves(op, ty, old, b),
        (Op::Add, _) => old.wrapping_add(b),
        (Op::And, _) => old & b,
        (Op::Or, _) => old | b,
        (Op::Xor, _) => old ^ b,
        (Op::Exchange, _) => b,
        (Op::CompareExchange, _) => {
            if old == b {
                c
            } else {
                old
            }
        }
        (Op::Inc, _) => {
            if old >= b {
                0
            } else {
                old + 1
            }
        }
        (Op::Dec, _) => {
            if old == 0 || old > b {
                b
            } else {
                old - 1
            }
        }
        (Op::Min, Ty::S32) => (old as i32).min(b as i32) as u32 as u64,
        (Op::Max, Ty::S32) => (old as i32).max(b as i32) as u32 as u64,
        (Op::Min, Ty::S64) => (old as i64).min(b as i64) as u64,
        (Op::Max, Ty::S64) => (old as i64).max(b as i64) as u64,
        (Op::Min, _) => old.min(b),
        (Op::Max, _) => old.max(b),
    }
}

/// `add`, `min`, `max` of one or two halves; `exch` and `cas` have bit types.
fn halves(op: Op, ty: Ty, old: u64, b: u64) -> u64 {
    let one = |a: u16, b: u16| -> u16 {
        let brain = matches!(ty, Ty::Bf16 | Ty::Bf16x2);
        let wide = |bits| {
            if brain {
                bf16::from_bits(bits).to_f32()
            } else {
                f16::from_bits(bits).to_f32()
            }
        };
        let value = match op {
            Op::Min => minimum(wide(a), wide(b)),
            Op::Max => maximum(wide(a), wide(b)),
            Op::Add | Op::And | Op::Or | Op::Xor | Op::Exchange | Op::CompareExchange | Op::Inc | Op::Dec => {
                wide(a) + wide(b)
            }
        };
        match (value.is_nan(), brain) {
            (true, _) => 0x7fff,
            (_, true) => bf16::from_f32(value).to_bits(),
            (_, false) => f16::from_f32(value).to_bits(),
        }
    };
    let low = u64::from(one(old as u16, b as u16));
    if matches!(ty, Ty::F16x2 | Ty::Bf16x2) {
        low | u64::from(one((old >> 16) as u16, (b >> 16) as u16)) << 16
    } else {
        low
    }
}
