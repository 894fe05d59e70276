//! Integer instructions on affine operands: the result is computed once for the whole block, rather than for each lane.
//! For blocks in lockstep only.

use crate::code::{
    Compare, CompareTarget, CompareType, Comparison as Is, Convert, ConvertType, DISCARD, Integer, IntegerOp,
    IntegerType as Ty, Move, Op, Shift, WideMultiply,
};
use crate::state::affine::Affine;
use crate::state::{FULL, Registers};

/// Executes an instruction if its operands are known to be affine and its result is affine too; else returns false.
#[inline(always)]
pub(crate) fn execute(registers: &mut Registers, op: &Op) -> bool {
    let done = match op {
        Op::Integer(op) => integer(registers, op),
        Op::Multiply(op) => multiply(registers, op),
        Op::Shift(op) => shift(registers, op),
        Op::Move(op) => copy(registers, op),
        Op::Convert(op) => widen(registers, op),
        Op::Compare(op) => compare(registers, op),
        _ => None,
    };
    done.is_some()
}

fn integer(registers: &mut Registers, op: &Integer) -> Option<()> {
    let wide = match op.ty {
        Ty::U32 | Ty::S32 => false,
        Ty::U64 | Ty::S64 => true,
        Ty::U16 | Ty::S16 => return None,
    };
    let mut find = |index: usize| {
        if wide {
            registers.affine::<u64>(op.s[index])
        } else {
            registers.affine::<u32>(op.s[index])
        }
    };
    let result = match op.op {
        IntegerOp::Add => find(0)?.add(find(1)?),
        IntegerOp::Sub => find(0)?.add(find(1)?.times(u64::MAX)),
        IntegerOp::Mul => product(find(0)?, find(1)?)?,
        IntegerOp::Mad => product(find(0)?, find(1)?)?.add(find(2)?),
        _ => return None,
    };
    if wide {
        registers.set_affine::<u64>(op.d, result);
    } else {
        registers.set_affine::<u32>(op.d, result.narrow());
    }
    Some(())
}

/// The product of two affine values, if one of them is uniform.
#[inline(always)]
fn product(a: Affine, b: Affine) -> Option<Affine> {
    match (a.is_uniform(), b.is_uniform()) {
        (_, true) => Some(a.times(b.base)),
        (true, false) => Some(b.times(a.base)),
        (false, false) => None,
    }
}

fn multiply(registers: &mut Registers, op: &WideMultiply) -> Option<()> {
    let (width, rows) = (registers.row_width(), registers.row_count());
    let signed = match op.ty {
        Ty::S32 => true,
        Ty::U32 => false,
        _ => return None,
    };
    let (a, ..) = registers.affine::<u32>(op.a)?.widen(signed, width, rows)?;
    let (b, ..) = registers.affine::<u32>(op.b)?.widen(signed, width, rows)?;
    let mut result = product(a, b)?;
    if op.c != DISCARD {
        result = result.add(registers.affine::<u64>(op.c)?);
    }
    registers.set_affine::<u64>(op.d, result);
    Some(())
}

fn shift(registers: &mut Registers, op: &Shift) -> Option<()> {
    let count = registers.affine::<u32>(op.b)?;
    if !op.left || !count.is_uniform() || count.base >= 32 {
        return None;
    }
    match op.ty {
        Ty::U32 | Ty::S32 => {
            let result = registers.affine::<u32>(op.a)?.times(1 << count.base);
            registers.set_affine::<u32>(op.d, result.narrow());
        }
        Ty::U64 | Ty::S64 => {
            let result = registers.affine::<u64>(op.a)?.times(1 << count.base);
            registers.set_affine::<u64>(op.d, result);
        }
        Ty::U16 | Ty::S16 => return None,
    }
    Some(())
}

fn copy(registers: &mut Registers, op: &Move) -> Option<()> {
    match *op {
        Move::M32 { d, a } => {
            let affine = registers.affine::<u32>(a)?;
            registers.set_affine::<u32>(d, affine);
        }
        Move::M64 { d, a } => {
            let affine = registers.affine::<u64>(a)?;
            registers.set_affine::<u64>(d, affine);
        }
        _ => return None,
    }
    Some(())
}

/// `cvt.s64.s32`, `cvt.u64.u32`
fn widen(registers: &mut Registers, op: &Convert) -> Option<()> {
    let (width, rows) = (registers.row_width(), registers.row_count());
    let (ConvertType::Integer { bytes: 4, signed }, ConvertType::Integer { bytes: 8, .. }) = (op.from, op.to) else {
        return None;
    };
    if op.sat || op.from_wide || !op.to_wide {
        return None;
    }
    let (exact, ..) = registers.affine::<u32>(op.a)?.widen(signed, width, rows)?;
    registers.set_affine::<u64>(op.d, exact);
    Some(())
}

/// `setp` of 32-bit integers, if all threads agree.
fn compare(registers: &mut Registers, op: &Compare) -> Option<()> {
    let (width, rows) = (registers.row_width(), registers.row_count());
    let signed = match op.ty {
        CompareType::Integer(Ty::S32) => true,
        CompareType::Integer(Ty::U32) => false,
        _ => return None,
    };
    let (CompareTarget::Predicates(p, q), None) = (op.to, op.combine) else {
        return None;
    };
    let (_, least, greatest) = registers.affine::<u32>(op.s[0])?.widen(signed, width, rows)?;
    let (_, least_other, greatest_other) = registers.affine::<u32>(op.s[1])?.widen(signed, width, rows)?;
    let holds = match op.comparison {
        Is::Lt | Is::Ltu => decide(greatest < least_other, least >= greatest_other)?,
        Is::Le | Is::Leu => decide(greatest <= least_other, least > greatest_other)?,
        Is::Gt | Is::Gtu => decide(least > greatest_other, greatest <= least_other)?,
        Is::Ge | Is::Geu => decide(least >= greatest_other, greatest < least_other)?,
        Is::Eq | Is::Equ => decide_equal([least, greatest], [least_other, greatest_other])?,
        Is::Ne | Is::Neu => !decide_equal([least, greatest], [least_other, greatest_other])?,
        Is::Num | Is::Nan => return None,
    };
    let all = |holds: bool| if holds { FULL } else { 0 };
    if p != DISCARD {
        registers.fill_predicates(p, all(holds));
    }
    if q != DISCARD {
        registers.fill_predicates(q, all(!holds));
    }
    Some(())
}

/// The outcome that all threads agree on, if they do.
#[inline(always)]
fn decide(always: bool, never: bool) -> Option<bool> {
    (always || never).then_some(always)
}

/// Whether all values of two ranges are equal, if either all or none are.
#[inline(always)]
fn decide_equal(a: [i64; 2], b: [i64; 2]) -> Option<bool> {
    decide(a[0] == a[1] && a == b, a[1] < b[0] || b[1] < a[0])
}
