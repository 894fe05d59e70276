//! `mov`, and conversions of addresses.

use graph_ptx::ast::{Operand, Type};

use super::Result;
use super::layout::Place;
use super::reader::Reader;
use super::scope::Scope;
use crate::code::{
    BooleanOp, Compare, CompareTarget, Comparison, DISCARD, File, Guard, Integer, IntegerOp, IntegerType, LaneOp,
    Logic, Move, NumberType, Op, Query, Slot, Space, Special,
};

/// `mov` between registers, of literals, of addresses; packing and unpacking.
pub(super) fn mov(reader: &mut Reader<'_, '_>) -> Result<Op> {
    let parts = reader.take_any(&[("v2", 2), ("v4", 4)]);
    let ty = reader.ty()?;
    let (to, from) = (reader.operand(0)?, reader.operand(1)?);
    if ty == Type::Pred {
        return predicate(from, reader);
    }
    if ty == Type::B128 {
        return halves(to, from, reader.scope);
    }
    if let Some(parts) = parts {
        return vector(parts, to, from, ty, reader.scope);
    }
    match (to, from) {
        (Operand::Vector(parts), _) => return unpack(parts, ty, reader),
        (_, Operand::Vector(parts)) => return pack(parts, ty, reader),
        _ => {}
    }
    let d = reader.target(0, ty)?;
    let wide = ty.size() == 8;
    match from {
        Operand::Special(name) if is_clock(name) => Ok(Query::Clock { d, wide }.into()),
        Operand::Special(name) if wide && matches!(name.as_str(), "%gridid" | "%current_graph_exec") => {
            Ok(copy(true, d, reader.scope.constant64(0)))
        }
        Operand::Symbol(name, addend) => symbol(d, name, *addend, ty, reader.scope),
        _ => Ok(copy(wide, d, reader.source(1, ty)?)),
    }
}

fn copy(wide: bool, d: Slot, a: Slot) -> Op {
    LaneOp::Move(Move::Copy { wide, d, a }).into()
}

fn is_clock(name: &str) -> bool {
    matches!(
        name,
        "%clock" | "%clock_hi" | "%clock64" | "%globaltimer" | "%globaltimer_lo" | "%globaltimer_hi"
    )
}

/// `mov.b128 a, {b, c}`, `mov.b128 {b, c}, a`, `mov.b128 a, b`
fn halves(to: &Operand, from: &Operand, scope: &mut Scope<'_>) -> Result<Op> {
    let parts = |operand: &Operand| match operand {
        Operand::Vector(_) => Ok(operand.clone()),
        _ => Ok::<_, String>(Operand::Vector(scope.halves(operand)?.into())),
    };
    let (to, from) = (parts(to)?, parts(from)?);
    vector(2, &to, &from, Type::B64, scope)
}

/// `mov.v4.u32 {a, b, c, d}, {e, f, g, h}`: part by part. All sources are read before any part is written.
fn vector(count: usize, to: &Operand, from: &Operand, ty: Type, scope: &mut Scope<'_>) -> Result<Op> {
    let mismatch = || format!("vectors of {count} parts are expected");
    let sources: Vec<Operand> = match from {
        Operand::Vector(parts) => parts.clone(),
        // An H200 puts the literal into the first part, and 0 into the others. Others than these were not measured.
        Operand::Integer(0..) => std::iter::once(from.clone())
            .chain(std::iter::repeat_n(Operand::Integer(0), count - 1))
            .collect(),
        _ => return Err(mismatch()),
    };
    let Operand::Vector(targets) = to else {
        return Err(mismatch());
    };
    if targets.len() != count || sources.len() < count {
        return Err(mismatch());
    }
    let wide = ty.size() == 8;
    let (mut reads, mut writes) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for (target, source) in targets.iter().zip(&sources) {
        let (d, a) = (scope.target_or_none(target, ty)?, scope.source(source, ty)?);
        if d == DISCARD {
            continue;
        }
        let between = scope.temporary(if wide { File::R64 } else { File::R32 });
        reads.push(copy(wide, between, a));
        writes.push(copy(wide, d, between));
    }
    reads.append(&mut writes);
    Ok(Op::Sequence(reads.into()))
}

/// The address of a variable of the frame, moved by `addend`. Addresses of local memory have 32 bits, and wrap.
fn frame_address(d: Slot, offset: u32, addend: i64, wide: bool, generic: bool) -> Op {
    let offset = offset.wrapping_add(addend as u32);
    Op::Query(Query::LocalAddress {
        d,
        offset,
        wide,
        generic,
    })
}

/// The address of a variable. That of a variable of the frame depends on the frame.
fn symbol(d: Slot, name: &str, addend: i64, ty: Type, scope: &mut Scope<'_>) -> Result<Op> {
    let wide = ty.size() == 8;
    match scope.find(name)? {
        Place::Frame(offset) => Ok(frame_address(d, offset, addend, wide, false)),
        Place::DynamicShared if wide => Ok(dynamic_shared(d, addend as u64, scope)),
        Place::DynamicShared => {
            let (a, b) = (scope.dynamic_shared(), scope.constant32(addend as u32));
            Ok(integer(IntegerOp::Add, IntegerType::U32, d, [a, b, a]))
        }
        _ => {
            let a = scope.source(&Operand::Symbol(name.to_owned(), addend), ty)?;
            Ok(copy(wide, d, a))
        }
    }
}

/// The offset of the dynamic shared memory, which is known at the launch, plus `addend`, in 64 bits.
fn dynamic_shared(d: Slot, addend: u64, scope: &mut Scope<'_>) -> Op {
    let s = [scope.dynamic_shared(), scope.constant32(1), scope.constant64(addend)];
    integer(IntegerOp::MadWide, IntegerType::U32, d, s)
}

fn integer(op: IntegerOp, ty: IntegerType, d: Slot, s: [Slot; 3]) -> Op {
    LaneOp::Integer(Integer { op, ty, d, s }).into()
}

fn predicate(from: &Operand, reader: &mut Reader<'_, '_>) -> Result<Op> {
    let d = reader.predicate_target(0)?;
    match from {
        Operand::Special(name) if name == "%is_explicit_cluster" => {}
        _ => return Ok(copy_predicate(d, reader.predicate(1)?)),
    }
    let explicit = reader.scope.special_slot(Special::ExplicitCluster);
    Ok(LaneOp::Compare(Box::new(Compare {
        ty: NumberType::Integer(IntegerType::U32),
        comparison: Comparison(Comparison::GREATER),
        ftz: false,
        combine: None,
        s: [explicit, reader.scope.constant32(0)],
        to: CompareTarget::Predicates(d, DISCARD),
    }))
    .into())
}

/// `mov.pred d, a`
pub(super) fn copy_predicate(d: Slot, a: Guard) -> Op {
    let op = BooleanOp::And;
    LaneOp::Logic(Logic { op, d, a, b: a }).into()
}

/// The type of each part.
fn part_type(ty: Type, parts: usize) -> Result<Type> {
    match (ty.size(), parts) {
        (4, 2) | (8, 4) => Ok(Type::B16),
        (4, 4) => Ok(Type::B8),
        (8, 2) => Ok(Type::B32),
        // `mov.b16 d, {a, b}` of bytes is new and rare.
        _ => Err("this form is not supported".to_owned()),
    }
}

fn pack(operands: &[Operand], ty: Type, reader: &mut Reader<'_, '_>) -> Result<Op> {
    let part = part_type(ty, operands.len())?;
    let d = reader.target(0, ty)?;
    let mut s = [DISCARD; 4];
    for (slot, operand) in s.iter_mut().zip(operands) {
        *slot = reader.scope.source(operand, part)?;
    }
    let (wide, parts) = (ty.size() == 8, operands.len() as u8);
    Ok(LaneOp::Move(Move::Pack { wide, parts, d, s }).into())
}

fn unpack(operands: &[Operand], ty: Type, reader: &mut Reader<'_, '_>) -> Result<Op> {
    let part = part_type(ty, operands.len())?;
    let a = reader.source(1, ty)?;
    let mut d = [DISCARD; 4];
    for (slot, operand) in d.iter_mut().zip(operands) {
        *slot = reader.scope.target_or_none(operand, part)?;
    }
    let (wide, parts) = (ty.size() == 8, operands.len() as u8);
    Ok(LaneOp::Move(Move::Unpack { wide, parts, d, a }).into())
}

/// Takes the name of a space that generic addresses are in.
fn space(reader: &mut Reader<'_, '_>) -> Result<Space> {
    let shared = ["shared", "shared::cta", "shared::cluster"];
    let others = ["local", "global", "const", "param", "param::entry"];
    let space = reader.space(&shared).or_else(|| reader.space(&others));
    space.ok_or_else(|| "unknown space".to_owned())
}

/// `cvta.shared.u64 d, a` and `cvta.to.shared.u64 d, a`: add or subtract the window's address.
pub(super) fn cvta(reader: &mut Reader<'_, '_>) -> Result<Op> {
    let back = reader.take("to");
    let window = space(reader)?.window();
    if reader.ty()? != Type::U64 {
        return Err("addresses have 64 bits here".to_owned());
    }
    let from = reader.operand(1)?;
    let d = reader.target(0, Type::U64)?;
    if let Operand::Symbol(name, addend) = from {
        return cvta_symbol(d, name, *addend, window, reader.scope);
    }
    let a = reader.source(1, Type::U64)?;
    if window == 0 {
        return Ok(copy(true, d, a));
    }
    let op = if back { IntegerOp::Sub } else { IntegerOp::Add };
    let b = reader.scope.constant64(window);
    Ok(integer(op, IntegerType::U64, d, [a, b, a]))
}

fn cvta_symbol(d: Slot, name: &str, addend: i64, window: u64, scope: &mut Scope<'_>) -> Result<Op> {
    match scope.find(name)? {
        Place::Frame(offset) => Ok(frame_address(d, offset, addend, true, true)),
        Place::Shared(offset) | Place::Local(offset) | Place::Parameter(offset) => {
            let a = scope.constant64((window + u64::from(offset)).wrapping_add_signed(addend));
            Ok(copy(true, d, a))
        }
        Place::DynamicShared => Ok(dynamic_shared(d, window.wrapping_add_signed(addend), scope)),
        _ => symbol(d, name, addend, Type::U64, scope),
    }
}

/// `isspacep.shared p, a`
pub(super) fn isspacep(reader: &mut Reader<'_, '_>) -> Result<Op> {
    let constant = reader.has("const");
    let space = space(reader)?;
    let d = reader.predicate_target(0)?;
    let (Operand::Register(_), Ok(a)) = (reader.operand(1)?, reader.source(1, Type::U64)) else {
        return Err("addresses have 64 bits here".to_owned());
    };
    Ok(Op::Query(Query::IsSpace { d, a, space, constant }))
}
