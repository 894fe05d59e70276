//! Integer instructions whose operands form lattices in the block: the result is computed for the block as a whole, not
//! for its lanes. Done only by all warps of a block together.

use crate::code::{
    Compare, CompareType, Comparison as Is, Convert, ConvertType, DISCARD, Integer, IntegerOp, IntegerType as Ty, Move,
    Op, Outcome, Shift, WideMultiply,
};
use crate::lattice::Lattice;
use crate::registers::{FULL, Registers};

/// Execute an instruction where all its operands are known to form lattices and its result does too; false elsewhere.
#[inline(always)]
pub(crate) fn step(registers: &mut Registers, op: &Op, side: usize) -> bool {
    let done = match op {
        Op::Integer(op) => integer(registers, op, side),
        Op::Multiply(op) => multiply(registers, op, side),
        Op::Shift(op) => shift(registers, op, side),
        Op::Move(op) => copy(registers, op, side),
        Op::Convert(op) => widen(registers, op, side),
        Op::Compare(op) => compare(registers, op, side),
        _ => None,
    };
    done.is_some()
}

fn integer(registers: &mut Registers, op: &Integer, side: usize) -> Option<()> {
    let wide = match op.ty {
        Ty::U32 | Ty::S32 => false,
        Ty::U64 | Ty::S64 => true,
        Ty::U16 | Ty::S16 => return None,
    };
    let mut find = |index: usize| match wide {
        true => registers.lattice64(op.s[index], side),
        false => registers.lattice32(op.s[index], side),
    };
    let result = match op.op {
        IntegerOp::Add => find(0)?.add(find(1)?),
        IntegerOp::Sub => find(0)?.add(find(1)?.times(u64::MAX)),
        IntegerOp::Mul => product(find(0)?, find(1)?)?,
        IntegerOp::Mad => product(find(0)?, find(1)?)?.add(find(2)?),
        _ => return None,
    };
    if wide {
        registers.set_lattice64(op.d, result);
    } else {
        registers.set_lattice32(op.d, result.narrow());
    }
    Some(())
}

/// The product of two lattices, one of which is uniform.
#[inline(always)]
fn product(a: Lattice, b: Lattice) -> Option<Lattice> {
    match (a.is_uniform(), b.is_uniform()) {
        (_, true) => Some(a.times(b.base)),
        (true, false) => Some(b.times(a.base)),
        (false, false) => None,
    }
}

fn multiply(registers: &mut Registers, op: &WideMultiply, side: usize) -> Option<()> {
    let signed = match op.ty {
        Ty::S32 => true,
        Ty::U32 => false,
        _ => return None,
    };
    let rows = registers.threads() / side;
    let (a, ..) = registers.lattice32(op.a, side)?.widen(signed, side, rows)?;
    let (b, ..) = registers.lattice32(op.b, side)?.widen(signed, side, rows)?;
    let mut result = product(a, b)?;
    if op.c != DISCARD {
        result = result.add(registers.lattice64(op.c, side)?);
    }
    registers.set_lattice64(op.d, result);
    Some(())
}

fn shift(registers: &mut Registers, op: &Shift, side: usize) -> Option<()> {
    let count = registers.lattice32(op.b, side)?;
    if !op.left || !count.is_uniform() || count.base >= 32 {
        return None;
    }
    match op.ty {
        Ty::U32 | Ty::S32 => {
            let result = registers.lattice32(op.a, side)?.times(1 << count.base);
            registers.set_lattice32(op.d, result.narrow());
        }
        Ty::U64 | Ty::S64 => {
            let result = registers.lattice64(op.a, side)?.times(1 << count.base);
            registers.set_lattice64(op.d, result);
        }
        Ty::U16 | Ty::S16 => return None,
    }
    Some(())
}

fn copy(registers: &mut Registers, op: &Move, side: usize) -> Option<()> {
    match *op {
        Move::M32 { d, a } => {
            let lattice = registers.lattice32(a, side)?;
            registers.set_lattice32(d, lattice);
        }
        Move::M64 { d, a } => {
            let lattice = registers.lattice64(a, side)?;
            registers.set_lattice64(d, lattice);
        }
        _ => return None,
    }
    Some(())
}

/// `cvt.s64.s32`, `cvt.u64.u32`
fn widen(registers: &mut Registers, op: &Convert, side: usize) -> Option<()> {
    let (ConvertType::Integer { bytes: 4, signed }, ConvertType::Integer { bytes: 8, .. }) = (op.from, op.to) else {
        return None;
    };
    if op.sat || op.from_wide || !op.to_wide {
        return None;
    }
    let rows = registers.threads() / side;
    let (exact, ..) = registers.lattice32(op.a, side)?.widen(signed, side, rows)?;
    registers.set_lattice64(op.d, exact);
    Some(())
}

/// `setp` of 32-bit integers, where all threads agree.
fn compare(registers: &mut Registers, op: &Compare, side: usize) -> Option<()> {
    let signed = match op.ty {
        CompareType::Integer(Ty::S32) => true,
        CompareType::Integer(Ty::U32) => false,
        _ => return None,
    };
    let (Outcome::Predicates(p, q), None) = (op.to, op.combine) else {
        return None;
    };
    let rows = registers.threads() / side;
    let (_, least, greatest) = registers.lattice32(op.s[0], side)?.widen(signed, side, rows)?;
    let (_, least_other, greatest_other) = registers.lattice32(op.s[1], side)?.widen(signed, side, rows)?;
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

/// What all threads agree on, if they do.
#[inline(always)]
fn decide(always: bool, never: bool) -> Option<bool> {
    (always || never).then_some(always)
}

/// Are all values of two ranges equal, or all different?
#[inline(always)]
fn decide_equal(a: [i64; 2], b: [i64; 2]) -> Option<bool> {
    decide(a[0] == a[1] && a == b, a[1] < b[0] || b[1] < a[0])
}
