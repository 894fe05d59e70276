//! Integer arithmetic, and the opcodes that integers and floats share.

use graph_ptx::ast::Type;

use super::compare::BOOLEANS;
use super::mov::copy_predicate;
use super::operand::{float_type, integer_type};
use super::reader::{Reader, source_count};
use super::{Result, float, video};
use crate::code::{Carry, CarryOp, Integer, IntegerOp, IntegerType, LaneOp, Logic, Op};

/// `add`, `mul` and so on, for integers or floats.
pub(super) fn arithmetic(reader: &mut Reader<'_, '_>) -> Result<Op> {
    if let Some(op) = video::packed(reader)? {
        return Ok(op);
    }
    let ty = reader.ty()?;
    match float_type(ty) {
        Some(float) => float::typed(float, ty, reader),
        None => integer_typed(ty, reader),
    }
}

/// Operations that only integers have.
pub(super) fn integer(reader: &mut Reader<'_, '_>) -> Result<Op> {
    match reader.ty()? {
        Type::Pred => predicate(reader),
        ty => integer_typed(ty, reader),
    }
}

/// `not.pred d, a`, `and.pred d, a, b` and so on. Sources may be negated, or literals.
fn predicate(reader: &mut Reader<'_, '_>) -> Result<Op> {
    let d = reader.predicate_target(0)?;
    let a = reader.predicate(1)?;
    if reader.opcode == "not" {
        return Ok(copy_predicate(d, a.not()));
    }
    let known = BOOLEANS.iter().find(|(name, _)| *name == reader.opcode);
    let op = known.ok_or("no operation of predicates")?.1;
    let b = reader.predicate(2)?;
    Ok(LaneOp::Logic(Logic { op, d, a, b }).into())
}

fn integer_typed(ty: Type, reader: &mut Reader<'_, '_>) -> Result<Op> {
    let opcode = reader.opcode;
    let is_shift = matches!(opcode, "shl" | "shr");
    if !is_shift && reader.take("cc") {
        return carry_typed(opcode, ty, false, true, reader);
    }
    let kind = integer_type(ty)?;
    let wide = matches!(opcode, "mul" | "mad") && reader.take("wide");
    let high = !wide
        && matches!(opcode, "mul" | "mad" | "mul24" | "mad24")
        && reader.one_of(&[("hi", true), ("lo", false)], "`.hi`, `.lo` or `.wide` is missing")?;
    let sat = !wide && !is_shift && reader.take("sat");
    if sat && kind != IntegerType::S32 {
        return Err("`.sat` needs the type `.s32`".to_owned());
    }
    let double = match kind.bytes() {
        2 => Type::U32,
        4 => Type::U64,
        _ if wide => return Err("`.wide` needs a type of 16 or 32 bits".to_owned()),
        _ => ty,
    };
    let (op, types) = match opcode {
        "mul" if wide => (IntegerOp::MulWide, [double, ty, ty, double]),
        "mad" if wide => (IntegerOp::MadWide, [double, ty, ty, double]),
        "shl" => (IntegerOp::ShiftLeft, [ty, ty, Type::B32, ty]),
        "shr" => (IntegerOp::ShiftRight, [ty, ty, Type::B32, ty]),
        _ => (integer_op(opcode, high, sat)?, [ty; 4]),
    };
    let count = source_count(opcode);
    reader.no_more(count + 1)?;
    let d = reader.target(0, types[0])?;
    let s = reader.sources(&types[1..=count])?;
    Ok(LaneOp::Integer(Integer { op, ty: kind, d, s }).into())
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

/// `addc`, `subc`, `madc`: with the carry flag as an input.
pub(super) fn carry(reader: &mut Reader<'_, '_>) -> Result<Op> {
    let (ty, out) = (reader.ty()?, reader.take("cc"));
    carry_typed(&reader.opcode[..3], ty, true, out, reader)
}

fn carry_typed(opcode: &str, ty: Type, carry_in: bool, carry_out: bool, reader: &mut Reader<'_, '_>) -> Result<Op> {
    let kind = integer_type(ty)?;
    if ty.size() < 4 {
        return Err("carry chains need a type of 32 or 64 bits".to_owned());
    }
    let op = match opcode {
        "add" => CarryOp::Add,
        "sub" => CarryOp::Sub,
        "mad" if reader.take("lo") => CarryOp::MadLow,
        "mad" if reader.take("hi") => CarryOp::MadHigh,
        _ => return Err("unknown form of the instruction".to_owned()),
    };
    Ok(Op::Carry(Carry {
        op,
        ty: kind,
        carry_in,
        carry_out,
        d: reader.target(0, ty)?,
        s: reader.sources(&[ty; 3][..source_count(opcode)])?,
    }))
}
