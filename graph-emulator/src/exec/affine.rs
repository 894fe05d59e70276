//! Integer instructions on affine operands: the result is computed once for the whole block, rather than for each lane.
//! For blocks in lockstep only.

use crate::code::{
    Compare, CompareTarget, Comparison, Convert, ConvertType, DISCARD, Integer, IntegerOp, IntegerType as Ty, LaneOp,
    Move, NumberType, Op, Slot,
};
use crate::state::affine::Affine;
use crate::state::{Registers, all_if};

/// Executes an instruction if its operands are known to be affine and its result is affine too; else returns false.
#[inline(always)]
pub(crate) fn execute(registers: &mut Registers, op: &Op) -> bool {
    let Op::Lanes(op) = op else { return false };
    let done = match op {
        LaneOp::Integer(op) => integer(registers, op),
        LaneOp::Move(op) => copy(registers, op),
        LaneOp::Convert(op) => widen(registers, op),
        LaneOp::Compare(op) => compare(registers, op),
        _ => None,
    };
    done.is_some()
}

/// The values of a register of a width.
#[inline(always)]
fn find(registers: &mut Registers, wide: bool, slot: Slot) -> Option<Affine> {
    if wide {
        registers.affine::<u64>(slot)
    } else {
        registers.affine::<u32>(slot)
    }
}

#[inline(always)]
fn set(registers: &mut Registers, wide: bool, slot: Slot, affine: Affine) -> Option<()> {
    if wide {
        registers.set_affine::<u64>(slot, affine);
    } else {
        registers.set_affine::<u32>(slot, affine.narrow());
    }
    Some(())
}

fn integer(registers: &mut Registers, op: &Integer) -> Option<()> {
    let wide = match op.ty.bytes() {
        4 => false,
        8 => true,
        _ => return None,
    };
    let mut source = |index: usize| find(registers, wide, op.s[index]);
    let result = match op.op {
        IntegerOp::Add => source(0)?.add(source(1)?),
        IntegerOp::Sub => source(0)?.add(source(1)?.times(u64::MAX)),
        IntegerOp::Mul => product(source(0)?, source(1)?)?,
        IntegerOp::Mad => product(source(0)?, source(1)?)?.add(source(2)?),
        IntegerOp::ShiftLeft => {
            let count = registers.affine::<u32>(op.s[1])?;
            if !count.is_uniform() || count.base >= 32 {
                return None;
            }
            find(registers, wide, op.s[0])?.times(1 << count.base)
        }
        IntegerOp::MulWide | IntegerOp::MadWide if !wide => return multiply(registers, op),
        _ => return None,
    };
    set(registers, wide, op.d, result)
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

fn multiply(registers: &mut Registers, op: &Integer) -> Option<()> {
    let (width, rows, signed) = (registers.row_width(), registers.row_count(), op.ty.is_signed());
    let (a, ..) = registers.affine::<u32>(op.s[0])?.widen(signed, width, rows)?;
    let (b, ..) = registers.affine::<u32>(op.s[1])?.widen(signed, width, rows)?;
    let mut result = product(a, b)?;
    if op.op == IntegerOp::MadWide {
        result = result.add(registers.affine::<u64>(op.s[2])?);
    }
    set(registers, true, op.d, result)
}

fn copy(registers: &mut Registers, op: &Move) -> Option<()> {
    let Move::Copy { wide, d, a } = *op else { return None };
    let affine = find(registers, wide, a)?;
    set(registers, wide, d, affine)
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
        NumberType::Integer(Ty::S32) => true,
        NumberType::Integer(Ty::U32) => false,
        _ => return None,
    };
    let (CompareTarget::Predicates(p, q), None) = (op.to, op.combine) else {
        return None;
    };
    let (_, least, greatest) = registers.affine::<u32>(op.s[0])?.widen(signed, width, rows)?;
    let (_, least_other, greatest_other) = registers.affine::<u32>(op.s[1])?.widen(signed, width, rows)?;
    // The relations that some thread may find.
    let overlap = least <= greatest_other && least_other <= greatest;
    let relation = |is_possible: bool, relation: u8| if is_possible { relation } else { 0 };
    let possible = relation(least < greatest_other, Comparison::LESS)
        | relation(overlap, Comparison::EQUAL)
        | relation(greatest > least_other, Comparison::GREATER);
    let holds = match possible & op.comparison.0 {
        0 => false,
        all if all == possible => true,
        _ => return None,
    };
    if p != DISCARD {
        registers.fill_predicates(p, all_if(holds));
    }
    if q != DISCARD {
        registers.fill_predicates(q, all_if(!holds));
    }
    Some(())
}
