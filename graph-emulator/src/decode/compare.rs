//! `setp`, `set`, `testp`, `selp`, `slct`.

use graph_ptx::ast::{Operand, Type};

use super::Result;
use super::modifiers::{Modifiers, float_type, integer_type};
use super::operand::operand;
use super::scope::Scope;
use crate::code::{
    BooleanOp, Compare, CompareTarget, CompareType, Comparison, DISCARD, Op, Select, Selector, Test, TestOp,
};

pub(super) const COMPARISONS: [(&str, Comparison); 18] = [
    ("eq", Comparison::Eq),
    ("ne", Comparison::Ne),
    ("lt", Comparison::Lt),
    ("le", Comparison::Le),
    ("gt", Comparison::Gt),
    ("ge", Comparison::Ge),
    ("lo", Comparison::Lt),
    ("ls", Comparison::Le),
    ("hi", Comparison::Gt),
    ("hs", Comparison::Ge),
    ("equ", Comparison::Equ),
    ("neu", Comparison::Neu),
    ("ltu", Comparison::Ltu),
    ("leu", Comparison::Leu),
    ("gtu", Comparison::Gtu),
    ("geu", Comparison::Geu),
    ("num", Comparison::Num),
    ("nan", Comparison::Nan),
];

/// `setp.lt.and.f32 p|q, a, b, c` and `set.lt.and.u32.f32 d, a, b, c`.
pub(super) fn compare(modifiers: &mut Modifiers<'_>, operands: &[Operand], scope: &mut Scope<'_>) -> Result<Op> {
    let comparison = modifiers.take_any(&COMPARISONS).ok_or("unknown comparison")?;
    let boolean = modifiers.take_any(&[("and", BooleanOp::And), ("or", BooleanOp::Or), ("xor", BooleanOp::Xor)]);
    let ftz = modifiers.take("ftz");
    let result = if modifiers.opcode == "set" {
        Some(modifiers.ty()?)
    } else {
        None
    };
    let ty = modifiers.ty()?;
    let kind = match float_type(ty) {
        Some(float) => CompareType::Float(float),
        None => CompareType::Integer(integer_type(ty)?),
    };
    if matches!(kind, CompareType::Integer(_)) && matches!(comparison, Comparison::Num | Comparison::Nan) {
        return Err("unknown comparison of integers".to_owned());
    }
    let s = [
        scope.source(operand(operands, 1)?, ty)?,
        scope.source(operand(operands, 2)?, ty)?,
    ];
    let combine = match boolean {
        None => None,
        Some(op) => {
            let (c, flip) = scope.predicate(operand(operands, 3)?)?;
            Some((op, c, flip))
        }
    };
    let to = match result {
        Some(result) => set_outcome(operand(operands, 0)?, result, ty, scope)?,
        None => predicates(operand(operands, 0)?, scope)?,
    };
    Ok(Op::Compare(Box::new(Compare {
        ty: kind,
        comparison,
        ftz,
        combine,
        s,
        to,
    })))
}

fn predicates(target: &Operand, scope: &Scope<'_>) -> Result<CompareTarget> {
    match target {
        Operand::Pair(p, q) => Ok(CompareTarget::Predicates(
            scope.predicate_target(p)?,
            scope.predicate_target(q)?,
        )),
        _ => Ok(CompareTarget::Predicates(scope.predicate_target(target)?, DISCARD)),
    }
}

/// The destination of `set`, which gets all ones, or one in a floating-point type.
fn set_outcome(target: &Operand, result: Type, ty: Type, scope: &Scope<'_>) -> Result<CompareTarget> {
    let d = scope.target(target, result)?;
    match result {
        Type::U32 | Type::S32 if !matches!(ty, Type::F16x2 | Type::BF16x2) => Ok(CompareTarget::Mask(d)),
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
pub(super) fn testp(modifiers: &mut Modifiers<'_>, operands: &[Operand], scope: &mut Scope<'_>) -> Result<Op> {
    let ops = [
        ("finite", TestOp::Finite),
        ("infinite", TestOp::Infinite),
        ("number", TestOp::Number),
        ("notanumber", TestOp::NotANumber),
        ("normal", TestOp::Normal),
        ("subnormal", TestOp::Subnormal),
    ];
    let op = modifiers.take_any(&ops).ok_or("unknown property")?;
    let ty = modifiers.ty()?;
    if !matches!(ty, Type::F32 | Type::F64) {
        return Err("not a type of this instruction".to_owned());
    }
    let d = scope.predicate_target(operand(operands, 0)?)?;
    let a = scope.source(operand(operands, 1)?, ty)?;
    Ok(Op::Test(Test {
        op,
        wide: ty == Type::F64,
        d,
        a,
    }))
}

/// `selp`, `slct`
pub(super) fn select(modifiers: &mut Modifiers<'_>, operands: &[Operand], scope: &mut Scope<'_>) -> Result<Op> {
    let ftz = modifiers.take("ftz");
    let ty = modifiers.ty()?;
    if ty == Type::Pred {
        return Err("unknown form of the instruction".to_owned());
    }
    let d = scope.target(operand(operands, 0)?, ty)?;
    let a = scope.source(operand(operands, 1)?, ty)?;
    let b = scope.source(operand(operands, 2)?, ty)?;
    let by = if modifiers.opcode == "selp" {
        let (predicate, flip) = scope.predicate(operand(operands, 3)?)?;
        Selector::Predicate(predicate, flip)
    } else {
        let selector = modifiers.ty()?;
        let c = scope.source(operand(operands, 3)?, selector)?;
        match selector {
            Type::S32 => Selector::Signed(c),
            Type::F32 => Selector::Float(c, ftz),
            _ => return Err("the selector's type must be `.s32` or `.f32`".to_owned()),
        }
    };
    Ok(Op::Select(Select {
        wide: ty.size() == 8,
        by,
        d,
        a,
        b,
    }))
}
