//! Comparisons (`setp`, `set`, `testp`) and selections (`selp`, `slct`).

use half::{bf16, f16};

use super::number::flush;
use crate::code::{
    BooleanOp, Compare, CompareTarget, CompareType, Comparison as Is, DISCARD, FloatType, IntegerType as Ty, Select,
    Selector, Slot, Test, TestOp,
};
use crate::state::vector::dispatch;
use crate::state::{LANES, Lane, Registers, each};

dispatch! {
    /// `setp` and `set`.
    fn compare(registers: &mut Registers, mask: u32, instruction: &Compare) = compare_lanes
}

dispatch! {
    /// `selp` and `slct`.
    fn select(registers: &mut Registers, mask: u32, instruction: &Select) = select_lanes
}

#[inline(always)]
fn compare_lanes(registers: &mut Registers, mask: u32, instruction: &Compare) {
    let Compare { comparison: is, s, .. } = *instruction;
    let holds = match instruction.ty {
        CompareType::Integer(Ty::U32) => ordered::<u32>(registers, is, s),
        CompareType::Integer(Ty::S32) => ordered::<i32>(registers, is, s),
        CompareType::Integer(Ty::U64) => ordered::<u64>(registers, is, s),
        CompareType::Integer(Ty::S64) => ordered::<i64>(registers, is, s),
        CompareType::Integer(Ty::U16) => ordered::<u16>(registers, is, s),
        CompareType::Integer(Ty::S16) => ordered::<i16>(registers, is, s),
        CompareType::Float(FloatType::F32) if instruction.ftz => floats(registers, is, s, |a: f32, b: f32| {
            test(is, flush::<true>(a), flush::<true>(b))
        }),
        CompareType::Float(FloatType::F32) => floats(registers, is, s, |a: f32, b: f32| test(is, a, b)),
        CompareType::Float(FloatType::F64) => floats(registers, is, s, |a: f64, b: f64| test(is, a, b)),
        CompareType::Float(ty) => return compare_halves(registers, mask, instruction, ty),
    };
    store(registers, mask, instruction, holds, holds);
}

/// Compares integers, for which the unordered forms are the same as the ordered ones.
#[inline(always)]
fn ordered<T: Lane + Ord>(registers: &Registers, is: Is, s: [Slot; 2]) -> u32 {
    match is {
        Is::Eq | Is::Equ => registers.test2(s, |a: T, b: T| a == b),
        Is::Ne | Is::Neu => registers.test2(s, |a: T, b: T| a != b),
        Is::Lt | Is::Ltu => registers.test2(s, |a: T, b: T| a < b),
        Is::Le | Is::Leu => registers.test2(s, |a: T, b: T| a <= b),
        Is::Gt | Is::Gtu => registers.test2(s, |a: T, b: T| a > b),
        Is::Ge | Is::Geu => registers.test2(s, |a: T, b: T| a >= b),
        Is::Num | Is::Nan => 0,
    }
}

#[inline(always)]
fn floats<T: Lane + PartialOrd>(registers: &Registers, is: Is, s: [Slot; 2], slow: impl Fn(T, T) -> bool) -> u32 {
    match is {
        // The most frequent comparisons are compiled separately, each for its constant `is`.
        Is::Lt => registers.test2(s, |a: T, b: T| slow(a, b)),
        Is::Gt => registers.test2(s, |a: T, b: T| slow(a, b)),
        _ => registers.test2(s, slow),
    }
}

#[inline(always)]
fn test<T: PartialOrd>(is: Is, a: T, b: T) -> bool {
    let unordered = a.partial_cmp(&b).is_none();
    match is {
        Is::Eq => a == b,
        Is::Ne => a != b && !unordered,
        Is::Lt => a < b,
        Is::Le => a <= b,
        Is::Gt => a > b,
        Is::Ge => a >= b,
        Is::Equ => a == b || unordered,
        Is::Neu => a != b,
        Is::Ltu => a < b || unordered,
        Is::Leu => a <= b || unordered,
        Is::Gtu => a > b || unordered,
        Is::Geu => a >= b || unordered,
        Is::Num => !unordered,
        Is::Nan => unordered,
    }
}

fn compare_halves(registers: &mut Registers, mask: u32, instruction: &Compare, ty: FloatType) {
    let (a, b) = (*registers.get32(instruction.s[0]), *registers.get32(instruction.s[1]));
    let brain = matches!(ty, FloatType::Bf16 | FloatType::Bf16x2);
    let packed = matches!(ty, FloatType::F16x2 | FloatType::Bf16x2);
    let widen = |bits: u32| {
        let bits = bits as u16;
        let tiny = !brain && bits & 0x7c00 == 0;
        let bits = if instruction.ftz && tiny { bits & 0x8000 } else { bits };
        if brain {
            bf16::from_bits(bits).to_f32()
        } else {
            f16::from_bits(bits).to_f32()
        }
    };
    let holds = |shift: u32| {
        (0..LANES).fold(0, |holds, lane| {
            let holds_here = test(instruction.comparison, widen(a[lane] >> shift), widen(b[lane] >> shift));
            holds | u32::from(holds_here) << lane
        })
    };
    let low = holds(0);
    store(registers, mask, instruction, low, if packed { holds(16) } else { low });
}

/// Combines the outcome with a predicate and writes it to its destination. `high` is the outcome of the upper halves.
#[inline(always)]
fn store(registers: &mut Registers, mask: u32, instruction: &Compare, holds: u32, high: u32) {
    let combined = |registers: &Registers, holds: u32| match instruction.combine {
        None => holds,
        Some((op, c, flip)) => combine(op, holds, registers.predicate(c) ^ flip),
    };
    let lanes = |holds: u32, value: u32| each(|lane| if holds >> lane & 1 != 0 { value } else { 0 });
    match instruction.to {
        CompareTarget::Predicates(p, q) => {
            // `q` is the negated comparison, combined in the same way. For packed halves it is the comparison of the
            // upper ones.
            let packed = matches!(instruction.ty, CompareType::Float(FloatType::F16x2 | FloatType::Bf16x2));
            let other = combined(registers, if packed { high } else { !holds });
            let holds = combined(registers, holds);
            if p != DISCARD {
                registers.set_predicate(p, mask, holds);
            }
            if q != DISCARD {
                registers.set_predicate(q, mask, other);
            }
        }
        CompareTarget::Mask(d) => {
            let holds = combined(registers, holds);
            registers.set(d, mask, lanes(holds, u32::MAX));
        }
        CompareTarget::Value(d, value) => {
            let holds = combined(registers, holds);
            registers.set(d, mask, lanes(holds, value));
        }
        CompareTarget::Halves(d, value) => {
            let (low, high) = (
                lanes(combined(registers, holds), value),
                lanes(combined(registers, high), value << 16),
            );
            registers.set::<u32>(d, mask, each(|lane: usize| -> u32 { low[lane] | high[lane] }));
        }
    }
}

/// `a op b`, a bit for each lane.
#[inline(always)]
pub(crate) fn combine(op: BooleanOp, a: u32, b: u32) -> u32 {
    match op {
        BooleanOp::And => a & b,
        BooleanOp::Or => a | b,
        BooleanOp::Xor => a ^ b,
    }
}

#[inline(always)]
fn select_lanes(registers: &mut Registers, mask: u32, &Select { wide, by, d, a, b }: &Select) {
    let first = match by {
        Selector::Predicate(p, flip) => registers.predicate(p) ^ flip,
        Selector::Signed(c) => registers.test2([c, c], |c: i32, _: i32| c >= 0),
        Selector::Float(c, true) => registers.test2([c, c], |c: f32, _: f32| flush::<true>(c) >= 0.0),
        Selector::Float(c, false) => registers.test2([c, c], |c: f32, _: f32| c >= 0.0),
    };
    if wide {
        let (a, b) = (registers.get64(a), registers.get64(b));
        let result: [u64; LANES] = each(|lane| if first >> lane & 1 != 0 { a[lane] } else { b[lane] });
        registers.set(d, mask, result);
    } else {
        let (a, b) = (registers.get32(a), registers.get32(b));
        let result: [u32; LANES] = each(|lane| if first >> lane & 1 != 0 { a[lane] } else { b[lane] });
        registers.set(d, mask, result);
    }
}

/// `testp`
pub(crate) fn test_property(registers: &mut Registers, mask: u32, &Test { op, wide, d, a }: &Test) {
    macro_rules! property {
        ($ty:ty) => {
            registers.test2([a, a], |a: $ty, _: $ty| match op {
                TestOp::Finite => a.is_finite(),
                TestOp::Infinite => a.is_infinite(),
                TestOp::Number => !a.is_nan(),
                TestOp::NotANumber => a.is_nan(),
                // Zeros count as normal.
                TestOp::Normal => a.is_normal() || a == 0.0,
                TestOp::Subnormal => a.is_subnormal(),
            })
        };
    }
    let holds = if wide { property!(f64) } else { property!(f32) };
    registers.set_predicate(d, mask, holds);
}
