//! The operations of `atom`, `red` and `redux` on one value.

use half::{bf16, f16};

use super::number::{each_half, maximum, minimum, widen};
use crate::code::{AtomicOp as Op, FloatType, IntegerType as Ty, NumberType};
use crate::softfloat;

/// The new value, of the old one and the operands.
#[inline(always)]
pub(crate) fn apply(op: Op, ty: NumberType, old: u64, b: u64, c: u64) -> u64 {
    match (op, ty) {
        (Op::Add, NumberType::Float(FloatType::F32)) => {
            let sum = f32::from_bits(old as u32) + f32::from_bits(b as u32);
            if sum.is_nan() {
                0x7fff_ffff
            } else {
                sum.to_bits().into()
            }
        }
        (Op::Add, NumberType::Float(FloatType::F64)) => (f64::from_bits(old) + f64::from_bits(b)).to_bits(),
        (_, NumberType::Float(ty)) => {
            each_half(ty, |shift| half(op, ty, (old >> shift) as u16, (b >> shift) as u16)).into()
        }
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
        (Op::Min, NumberType::Integer(Ty::S32)) => (old as i32).min(b as i32) as u32 as u64,
        (Op::Max, NumberType::Integer(Ty::S32)) => (old as i32).max(b as i32) as u32 as u64,
        (Op::Min, NumberType::Integer(Ty::S64)) => (old as i64).min(b as i64) as u64,
        (Op::Max, NumberType::Integer(Ty::S64)) => (old as i64).max(b as i64) as u64,
        (Op::Min, _) => old.min(b),
        (Op::Max, _) => old.max(b),
    }
}

/// `add`, `min`, `max` of halves; `exch` and `cas` have bit types.
fn half(op: Op, ty: FloatType, a: u16, b: u16) -> u16 {
    let (a, b) = (widen(ty, a), widen(ty, b));
    let value = match op {
        Op::Min => minimum(a, b),
        Op::Max => maximum(a, b),
        _ => a + b,
    };
    if value.is_nan() {
        0x7fff
    } else if ty.format() == softfloat::BF16 {
        bf16::from_f32(value).to_bits()
    } else {
        f16::from_f32(value).to_bits()
    }
}
