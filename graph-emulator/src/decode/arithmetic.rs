//! Integer arithmetic, and the opcodes that integers and floats share.

use graph_ptx::ast::{Operand, Type};

use super::modifiers::{Modifiers, float_type, integer_type};
use super::operand::{no_more, operand};
use super::scope::Scope;
use super::{Result, float, video};
use crate::code::{
    BooleanOp, Carry, CarryOp, DISCARD, File, Integer, IntegerOp, IntegerType, Op, PredicateOp, Shift, WideMultiply,
};

/// `add`, `mul` and so on, for integers or floats.
pub(super) fn arithmetic(modifiers: &mut Modifiers<'_>, operands: &[Operand], scope: &mut Scope<'_>) -> Result<Op> {
    if let Some(op) = video::packed(modifiers, operands, scope)? {
        return Ok(op);
    }
    let ty = modifiers.ty()?;
    match float_type(ty) {
        Some(float) => float::typed(float, ty, modifiers, operands, scope),
        None => integer_typed(ty, modifiers, operands, scope),
    }
}

/// Operations that only integers have.
pub(super) fn integer(modifiers: &mut Modifiers<'_>, operands: &[Operand], scope: &mut Scope<'_>) -> Result<Op> {
    let ty = modifiers.ty()?;
    if ty == Type::Pred {
        return predicate(modifiers.opcode, operands, scope);
    }
    integer_typed(ty, modifiers, operands, scope)
}

/// `not.pred d, a`, `and.pred d, a, b` and so on. Sources may be negated, or literals.
fn predicate(opcode: &str, operands: &[Operand], scope: &mut Scope<'_>) -> Result<Op> {
    let d = scope.predicate_target(operand(operands, 0)?)?;
    let a = scope.predicate(operand(operands, 1)?)?;
    let op = match opcode {
        "not" => {
            return Ok(Op::Predicate(match a {
                (a, 0) => PredicateOp::Not { d, a },
                (a, _) => PredicateOp::Mov { d, a },
            }));
        }
        "and" => BooleanOp::And,
        "or" => BooleanOp::Or,
        "xor" => BooleanOp::Xor,
        _ => return Err("no operation of predicates".to_owned()),
    };
    let b = scope.predicate(operand(operands, 2)?)?;
    let mut ops = Vec::new();
    let mut plain = |(a, flip)| match flip {
        0 => a,
        _ => {
            let d = scope.temporary(File::Predicate);
            ops.push(Op::Predicate(PredicateOp::Not { d, a }));
            d
        }
    };
    let (a, b) = (plain(a), plain(b));
    let combine = Op::Predicate(PredicateOp::Combine { op, d, a, b });
    if ops.is_empty() {
        return Ok(combine);
    }
    ops.push(combine);
    Ok(Op::Sequence(ops.into()))
}

fn integer_typed(ty: Type, modifiers: &mut Modifiers<'_>, operands: &[Operand], scope: &mut Scope<'_>) -> Result<Op> {
    let opcode = modifiers.opcode;
    if matches!(opcode, "shl" | "shr") {
        return shift(opcode == "shl", ty, operands, scope);
    }
    if modifiers.take("cc") {
        return carry_typed(opcode, ty, false, true, modifiers, operands, scope);
    }
    if modifiers.take("wide") {
        return wide(opcode == "mad", ty, operands, scope);
    }
    let kind = integer_type(ty)?;
    let high = if matches!(opcode, "mul" | "mad" | "mul24" | "mad24") {
        modifiers
            .take_any(&[("hi", true), ("lo", false)])
            .ok_or("`.hi`, `.lo` or `.wide` is missing")?
    } else {
        false
    };
    let sat = modifiers.take("sat");
    if sat && kind != IntegerType::S32 {
        return Err("`.sat` needs the type `.s32`".to_owned());
    }
    let op = integer_op(opcode, high, sat)?;
    no_more(operands, op.operand_count() + 1)?;
    Ok(Op::Integer(Integer {
        op,
        ty: kind,
        d: scope.target(operand(operands, 0)?, ty)?,
        s: scope.sources(operands, op.operand_count(), ty)?,
    }))
}

fn integer_op(opcode: &str, high: bool, sat: bool) -> Result<IntegerOp> {
    Ok(match (opcode, high, sat) {
        ("add", _, false) => IntegerOp::Add,
        ("add", _, true) => IntegerOp::AddSat,
        ("sub", _, false) => IntegerOp::Sub,
        ("sub", _, true) => IntegerOp::SubSat,
        ("mul", false, false) => IntegerOp::Mul,
        ("mul", true, false) => IntegerOp::MulHigh,
        ("mad", false, false) => IntegerOp::Mad,
        ("mad", true, false) => IntegerOp::MadHigh,
        ("mad", true, true) => IntegerOp::MadHighSat,
        ("mul24", false, false) => IntegerOp::Mul24,
        ("mul24", true, false) => IntegerOp::Mul24High,
        ("mad24", false, false) => IntegerOp::Mad24,
        ("mad24", true, false) => IntegerOp::Mad24High,
        ("div", _, false) => IntegerOp::Div,
        ("rem", _, false) => IntegerOp::Rem,
        ("min", _, false) => IntegerOp::Min,
        ("max", _, false) => IntegerOp::Max,
        ("abs", _, false) => IntegerOp::Abs,
        ("neg", _, false) => IntegerOp::Neg,
        ("sad", _, false) => IntegerOp::Sad,
        ("and", _, false) => IntegerOp::And,
        ("or", _, false) => IntegerOp::Or,
        ("xor", _, false) => IntegerOp::Xor,
        ("not", _, false) => IntegerOp::Not,
        ("cnot", _, false) => IntegerOp::Cnot,
        _ => return Err("unknown form of the instruction".to_owned()),
    })
}

fn shift(left: bool, ty: Type, operands: &[Operand], scope: &mut Scope<'_>) -> Result<Op> {
    let d = scope.target(operand(operands, 0)?, ty)?;
    let a = scope.source(operand(operands, 1)?, ty)?;
    let b = scope.source32(operand(operands, 2)?)?;
    Ok(Op::Shift(Shift {
        ty: integer_type(ty)?,
        left,
        d,
        a,
        b,
    }))
}

fn wide(add: bool, ty: Type, operands: &[Operand], scope: &mut Scope<'_>) -> Result<Op> {
    let kind = integer_type(ty)?;
    let double = match kind {
        IntegerType::U16 | IntegerType::S16 => Type::U32,
        IntegerType::U32 | IntegerType::S32 => Type::U64,
        IntegerType::U64 | IntegerType::S64 => return Err("`.wide` needs a type of 16 or 32 bits".to_owned()),
    };
    let d = scope.target(operand(operands, 0)?, double)?;
    let a = scope.source(operand(operands, 1)?, ty)?;
    let b = scope.source(operand(operands, 2)?, ty)?;
    let c = if add {
        scope.source(operand(operands, 3)?, double)?
    } else {
        DISCARD
    };
    Ok(Op::Multiply(WideMultiply { ty: kind, d, a, b, c }))
}

/// `addc`, `subc`, `madc`: with the carry flag as an input.
pub(super) fn carry(modifiers: &mut Modifiers<'_>, operands: &[Operand], scope: &mut Scope<'_>) -> Result<Op> {
    let (ty, out) = (modifiers.ty()?, modifiers.take("cc"));
    carry_typed(&modifiers.opcode[..3], ty, true, out, modifiers, operands, scope)
}

fn carry_typed(
    opcode: &str,
    ty: Type,
    carry_in: bool,
    carry_out: bool,
    modifiers: &mut Modifiers<'_>,
    operands: &[Operand],
    scope: &mut Scope<'_>,
) -> Result<Op> {
    let kind = integer_type(ty)?;
    if ty.size() < 4 {
        return Err("carry chains need a type of 32 or 64 bits".to_owned());
    }
    let op = match opcode {
        "add" => CarryOp::Add,
        "sub" => CarryOp::Sub,
        "mad" if modifiers.take("lo") => CarryOp::MadLow,
        "mad" if modifiers.take("hi") => CarryOp::MadHigh,
        _ => return Err("unknown form of the instruction".to_owned()),
    };
    Ok(Op::Carry(Carry {
        op,
        ty: kind,
        carry_in,
        carry_out,
        d: scope.target(operand(operands, 0)?, ty)?,
        s: scope.sources(operands, op.operand_count(), ty)?,
    }))
}
