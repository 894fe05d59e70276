//! Comparisons (`setp`, `set`, `testp`) and selections (`selp`, `slct`).

use super::number::{flush, flush_half, holds, widen};
use crate::code::{
    BooleanOp, Compare, CompareTarget, Comparison, DISCARD, FloatType, IntegerType as Ty, NumberType, Select, Selector,
    Slot, Test, TestOp,
};
use crate::softfloat;
use crate::state::vector::dispatch;
use crate::state::{FULL, LANES, Lane, Registers, all_if, each, lanes_where};

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
        NumberType::Integer(Ty::U32) => ordered::<u32>(registers, is, s),
        NumberType::Integer(Ty::S32) => ordered::<i32>(registers, is, s),
        NumberType::Integer(Ty::U64) => ordered::<u64>(registers, is, s),
        NumberType::Integer(Ty::S64) => ordered::<i64>(registers, is, s),
        NumberType::Integer(Ty::U16) => ordered::<u16>(registers, is, s),
        NumberType::Integer(Ty::S16) => ordered::<i16>(registers, is, s),
        NumberType::Float(FloatType::F32) if instruction.ftz => floats(registers, is, s, |a: f32, b: f32| {
            holds(is, flush::<true>(a), flush::<true>(b))
        }),
        NumberType::Float(FloatType::F32) => floats(registers, is, s, |a: f32, b: f32| holds(is, a, b)),
        NumberType::Float(FloatType::F64) => floats(registers, is, s, |a: f64, b: f64| holds(is, a, b)),
        NumberType::Float(ty) => return compare_halves(registers, mask, instruction, ty),
    };
    store(registers, mask, instruction, holds, holds);
}

/// Compares integers, which are never unordered.
#[inline(always)]
fn ordered<T: Lane + Ord>(registers: &Registers, Comparison(is): Comparison, s: [Slot; 2]) -> u32 {
    const LESS: u8 = Comparison::LESS;
    const EQUAL: u8 = Comparison::EQUAL;
    const GREATER: u8 = Comparison::GREATER;
    const LESS_OR_EQUAL: u8 = LESS | EQUAL;
    const GREATER_OR_EQUAL: u8 = GREATER | EQUAL;
    const UNEQUAL: u8 = LESS | GREATER;
    match is & !Comparison::UNORDERED {
        LESS => registers.test2(s, |a: T, b: T| a < b),
        EQUAL => registers.test2(s, |a: T, b: T| a == b),
        GREATER => registers.test2(s, |a: T, b: T| a > b),
        LESS_OR_EQUAL => registers.test2(s, |a: T, b: T| a <= b),
        GREATER_OR_EQUAL => registers.test2(s, |a: T, b: T| a >= b),
        UNEQUAL => registers.test2(s, |a: T, b: T| a != b),
        none_or_any => all_if(none_or_any != 0),
    }
}

#[inline(always)]
fn floats<T: Lane>(
    registers: &Registers,
    Comparison(is): Comparison,
    s: [Slot; 2],
    slow: impl Fn(T, T) -> bool,
) -> u32 {
    match is {
        // The most frequent comparisons are compiled separately, each for its constant `is`.
        Comparison::LESS => registers.test2(s, |a: T, b: T| slow(a, b)),
        Comparison::GREATER => registers.test2(s, |a: T, b: T| slow(a, b)),
        _ => registers.test2(s, slow),
    }
}

fn compare_halves(registers: &mut Registers, mask: u32, instruction: &Compare, ty: FloatType) {
    let (a, b) = (*registers.get32(instruction.s[0]), *registers.get32(instruction.s[1]));
    let widen = |bits: u32| {
        widen(
            ty,
            flush_half(ty, instruction.ftz && ty.format() == softfloat::F16, bits as u16),
        )
    };
    let holds = |shift: u32| {
        let holds = |lane: usize| holds(instruction.comparison, widen(a[lane] >> shift), widen(b[lane] >> shift));
        lanes_where(FULL, holds)
    };
    let low = holds(0);
    store(
        registers,
        mask,
        instruction,
        low,
        if ty.is_packed() { holds(16) } else { low },
    );
}

/// Combines the outcome with a predicate and writes it to its destination. `high` is the outcome of the upper halves.
#[inline(always)]
fn store(registers: &mut Registers, mask: u32, instruction: &Compare, holds: u32, high: u32) {
    let combined = |registers: &Registers, holds: u32| match instruction.combine {
        None => holds,
        Some((op, c)) => combine(op, holds, registers.guard(c)),
    };
    let lanes = |holds: u32, value: u32| each(|lane| if holds >> lane & 1 != 0 { value } else { 0 });
    match instruction.to {
        CompareTarget::Predicates(p, q) => {
            // `q` is the negated comparison, combined in the same way. For packed halves it is the comparison of the
            // upper ones.
            let packed = matches!(instruction.ty, NumberType::Float(ty) if ty.is_packed());
            let other = combined(registers, if packed { high } else { !holds });
            let holds = combined(registers, holds);
            if p != DISCARD {
                registers.set_predicate(p, mask, holds);
            }
            if q != DISCARD {
                registers.set_predicate(q, mask, other);
            }
        }
        CompareTarget::Value(d, value) => {
            let holds = combined(registers, holds);
            registers.set(d, mask, lanes(holds, value));
        }
        CompareTarget::Halves(d, value) => {
            let low: [u32; LANES] = lanes(combined(registers, holds), value);
            let high: [u32; LANES] = lanes(combined(registers, high), value << 16);
            registers.set::<u32>(d, mask, each(|lane| low[lane] | high[lane]));
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
        Selector::Predicate(p) => registers.guard(p),
        Selector::Signed(c) => registers.test2([c, c], |c: i32, _: i32| c >= 0),
        Selector::Float(c, true) => registers.test2([c, c], |c: f32, _: f32| flush::<true>(c) >= 0.0),
        Selector::Float(c, false) => registers.test2([c, c], |c: f32, _: f32| c >= 0.0),
    };
    macro_rules! select {
        ($bits:ty) => {{
            let (a, b) = (&registers.rows::<$bits>(a)[0], &registers.rows::<$bits>(b)[0]);
            let result: [$bits; LANES] = each(|lane| if first >> lane & 1 != 0 { a[lane] } else { b[lane] });
            registers.set(d, mask, result);
        }};
    }
    if wide { select!(u64) } else { select!(u32) }
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
