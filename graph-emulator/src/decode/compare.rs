//! `setp`, `set`, `testp`, `selp`, `slct`.

use graph_ptx::ast::{Operand, Type};

use super::Result;
use super::operand::number_type;
use super::reader::Reader;
use crate::code::{
    BooleanOp, Compare, CompareTarget, Comparison, DISCARD, LaneOp, NumberType, Op, Select, Selector, Test, TestOp,
};

pub(super) const BOOLEANS: [(&str, BooleanOp); 3] =
    [("and", BooleanOp::And), ("or", BooleanOp::Or), ("xor", BooleanOp::Xor)];

pub(super) const COMPARISONS: [(&str, Comparison); 18] = {
    const LT: u8 = Comparison::LESS;
    const EQ: u8 = Comparison::EQUAL;
    const GT: u8 = Comparison::GREATER;
    const NAN: u8 = Comparison::UNORDERED;
    [
        ("eq", Comparison(EQ)),
        ("ne", Comparison(LT | GT)),
        ("lt", Comparison(LT)),
        ("le", Comparison(LT | EQ)),
        ("gt", Comparison(GT)),
        ("ge", Comparison(GT | EQ)),
        ("lo", Comparison(LT)),
        ("ls", Comparison(LT | EQ)),
        ("hi", Comparison(GT)),
        ("hs", Comparison(GT | EQ)),
        ("equ", Comparison(EQ | NAN)),
        ("neu", Comparison(LT | GT | NAN)),
        ("ltu", Comparison(LT | NAN)),
        ("leu", Comparison(LT | EQ | NAN)),
        ("gtu", Comparison(GT | NAN)),
        ("geu", Comparison(GT | EQ | NAN)),
        ("num", Comparison(LT | EQ | GT)),
        ("nan", Comparison(NAN)),
    ]
};

/// `setp.lt.and.f32 p|q, a, b, c` and `set.lt.and.u32.f32 d, a, b, c`.
pub(super) fn compare(reader: &mut Reader<'_, '_>) -> Result<Op> {
    let asks_for_nan = reader.has("num") || reader.has("nan");
    let comparison = reader.one_of(&COMPARISONS, "unknown comparison")?;
    let boolean = reader.take_any(&BOOLEANS);
    let ftz = reader.take("ftz");
    let result = (reader.opcode == "set").then(|| reader.ty()).transpose()?;
    let ty = reader.ty()?;
    let kind = number_type(ty)?;
    if asks_for_nan && matches!(kind, NumberType::Integer(_)) {
        return Err("unknown comparison of integers".to_owned());
    }
    let s = [reader.source(1, ty)?, reader.source(2, ty)?];
    let combine = match boolean {
        None => None,
        Some(op) => Some((op, reader.predicate(3)?)),
    };
    let to = match result {
        Some(result) => set_outcome(result, ty, reader)?,
        None => predicates(reader)?,
    };
    Ok(LaneOp::Compare(Box::new(Compare {
        ty: kind,
        comparison,
        ftz,
        combine,
        s,
        to,
    }))
    .into())
}

fn predicates(reader: &mut Reader<'_, '_>) -> Result<CompareTarget> {
    let (p, q) = match reader.operand(0)? {
        Operand::Pair(p, q) => (reader.scope.predicate_target(p)?, reader.scope.predicate_target(q)?),
        _ => (reader.predicate_target(0)?, DISCARD),
    };
    Ok(CompareTarget::Predicates(p, q))
}

/// The destination of `set`, which gets all ones, or one in a floating-point type.
fn set_outcome(result: Type, ty: Type, reader: &mut Reader<'_, '_>) -> Result<CompareTarget> {
    let d = reader.target(0, result)?;
    match result {
        Type::U32 | Type::S32 if !matches!(ty, Type::F16x2 | Type::BF16x2) => Ok(CompareTarget::Value(d, u32::MAX)),
        Type::U32 | Type::S32 => Ok(CompareTarget::Halves(d, 0xffff)),
        Type::U16 | Type::S16 => Ok(CompareTarget::Value(d, 0xffff)),
        Type::F32 => Ok(CompareTarget::Value(d, 1f32.to_bits())),
        Type::F16 => Ok(CompareTarget::Value(d, 0x3c00)),
        Type::BF16 => Ok(CompareTarget::Value(d, 0x3f80)),
        Type::F16x2 => Ok(CompareTarget::Halves(d, 0x3c00)),
        Type::BF16x2 => Ok(CompareTarget::Halves(d, 0x3f80)),
        _ => Err("unknown result type".to_owned()),
    }
}

/// `testp`
pub(super) fn testp(reader: &mut Reader<'_, '_>) -> Result<Op> {
    let ops = [
        ("finite", TestOp::Finite),
        ("infinite", TestOp::Infinite),
        ("number", TestOp::Number),
        ("notanumber", TestOp::NotANumber),
        ("normal", TestOp::Normal),
        ("subnormal", TestOp::Subnormal),
    ];
    let op = reader.one_of(&ops, "unknown property")?;
    let ty = reader.ty()?;
    if !matches!(ty, Type::F32 | Type::F64) {
        return Err("not a type of this instruction".to_owned());
    }
    let wide = ty == Type::F64;
    let (d, a) = (reader.predicate_target(0)?, reader.source(1, ty)?);
    Ok(LaneOp::Test(Test { op, wide, d, a }).into())
}

/// `selp`, `slct`
pub(super) fn select(reader: &mut Reader<'_, '_>) -> Result<Op> {
    let ftz = reader.take("ftz");
    let ty = reader.ty()?;
    if ty == Type::Pred {
        return Err("unknown form of the instruction".to_owned());
    }
    let wide = ty.size() == 8;
    let (d, a, b) = (reader.target(0, ty)?, reader.source(1, ty)?, reader.source(2, ty)?);
    let by = if reader.opcode == "selp" {
        Selector::Predicate(reader.predicate(3)?)
    } else {
        let selector = reader.ty()?;
        let c = reader.source(3, selector)?;
        match selector {
            Type::S32 => Selector::Signed(c),
            Type::F32 => Selector::Float(c, ftz),
            _ => return Err("the selector's type must be `.s32` or `.f32`".to_owned()),
        }
    };
    Ok(LaneOp::Select(Select { wide, by, d, a, b }).into())
}
