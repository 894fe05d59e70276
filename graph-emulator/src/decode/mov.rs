//! `mov`, and conversions of addresses.

use graph_ptx::ast::{Operand, Type};

use super::Result;
use super::layout::Place;
use super::modifiers::Modifiers;
use super::operand::operand;
use super::scope::Scope;
use crate::code::{
    Compare, CompareTarget, CompareType, Comparison, DISCARD, File, Integer, IntegerOp, IntegerType, Move, Op,
    PredicateOp, Slot, Space, Special, WideMultiply,
};

/// `mov` between registers, of literals, of addresses; packing and unpacking.
pub(super) fn mov(modifiers: &mut Modifiers<'_>, operands: &[Operand], scope: &mut Scope<'_>) -> Result<Op> {
    let parts = modifiers.take_any(&[("v2", 2), ("v4", 4)]);
    let ty = modifiers.ty()?;
    let (to, from) = (operand(operands, 0)?, operand(operands, 1)?);
    if ty == Type::Pred {
        return predicate(to, from, scope);
    }
    if ty == Type::B128 {
        return Err("registers of 128 bits are not supported".to_owned());
    }
    if let Some(parts) = parts {
        return vector(parts, to, from, ty, scope);
    }
    match (to, from) {
        (Operand::Vector(parts), _) => return unpack(parts, from, ty, scope),
        (_, Operand::Vector(parts)) => return pack(to, parts, ty, scope),
        _ => {}
    }
    let d = scope.target(to, ty)?;
    let wide = ty.size() == 8;
    match from {
        Operand::Special(name) if is_clock(name) => Ok(Op::Clock { d, wide }),
        Operand::Special(name) if wide && matches!(name.as_str(), "%gridid" | "%current_graph_exec") => {
            Ok(Op::Move(Move::M64 {
                d,
                a: scope.constant64(0),
            }))
        }
        Operand::Symbol(name, addend) => symbol(d, name, *addend, ty, scope),
        _ if wide => Ok(Op::Move(Move::M64 {
            d,
            a: scope.source(from, ty)?,
        })),
        _ => Ok(Op::Move(Move::M32 {
            d,
            a: scope.source(from, ty)?,
        })),
    }
}

fn is_clock(name: &str) -> bool {
    matches!(
        name,
        "%clock" | "%clock_hi" | "%clock64" | "%globaltimer" | "%globaltimer_lo" | "%globaltimer_hi"
    )
}

/// `mov.v4.u32 {a, b, c, d}, {e, f, g, h}`: part by part. All sources are read before any part is written.
fn vector(count: usize, to: &Operand, from: &Operand, ty: Type, scope: &mut Scope<'_>) -> Result<Op> {
    let mismatch = || format!("vectors of {count} parts are expected");
    let sources: Vec<Operand> = match from {
        Operand::Vector(parts) => parts.clone(),
        // Special registers have no fourth part; it is 0.
        Operand::Special(name) => ["x", "y", "z"]
            .map(|part| Operand::Special(format!("{name}.{part}")))
            .into_iter()
            .chain([Operand::Integer(0)])
            .collect(),
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
        let copy = |d, a| Op::Move(if wide { Move::M64 { d, a } } else { Move::M32 { d, a } });
        reads.push(copy(between, a));
        writes.push(copy(d, between));
    }
    reads.append(&mut writes);
    Ok(Op::Sequence(reads.into()))
}

/// An offset in the frame, moved by `addend`. Addresses of local memory have 32 bits, and wrap.
fn frame_offset(offset: u32, addend: i64) -> u32 {
    offset.wrapping_add(addend as u32)
}

/// The address of a variable. That of a variable of the frame depends on the frame.
fn symbol(d: Slot, name: &str, addend: i64, ty: Type, scope: &mut Scope<'_>) -> Result<Op> {
    let wide = ty.size() == 8;
    match scope.find(name)? {
        Place::Frame(offset) => Ok(Op::LocalAddress {
            d,
            offset: frame_offset(offset, addend),
            wide,
            generic: false,
        }),
        Place::DynamicShared if wide => Ok(dynamic_shared(d, addend as u64, scope)),
        Place::DynamicShared => {
            let (a, b) = (scope.dynamic_shared(), scope.constant32(addend as u32));
            Ok(Op::Integer(Integer {
                op: IntegerOp::Add,
                ty: IntegerType::U32,
                d,
                s: [a, b, 0],
            }))
        }
        _ => {
            let a = scope.source(&Operand::Symbol(name.to_owned(), addend), ty)?;
            Ok(Op::Move(if wide { Move::M64 { d, a } } else { Move::M32 { d, a } }))
        }
    }
}

/// The offset of the dynamic shared memory, which is known at the launch, plus `addend`, in 64 bits.
fn dynamic_shared(d: Slot, addend: u64, scope: &mut Scope<'_>) -> Op {
    Op::Multiply(WideMultiply {
        ty: IntegerType::U32,
        d,
        a: scope.dynamic_shared(),
        b: scope.constant32(1),
        c: scope.constant64(addend),
    })
}

fn predicate(to: &Operand, from: &Operand, scope: &mut Scope<'_>) -> Result<Op> {
    let d = scope.predicate_target(to)?;
    if let Operand::Special(name) = from
        && name == "%is_explicit_cluster"
    {
        return Ok(Op::Compare(Box::new(Compare {
            ty: CompareType::Integer(IntegerType::U32),
            comparison: Comparison::Ne,
            ftz: false,
            combine: None,
            s: [scope.special_slot(Special::ExplicitCluster), scope.constant32(0)],
            to: CompareTarget::Predicates(d, DISCARD),
        })));
    }
    Ok(Op::Predicate(match from {
        Operand::Integer(value) => PredicateOp::Set {
            d,
            value: if *value != 0 { u32::MAX } else { 0 },
        },
        _ => match scope.predicate(from)? {
            (a, 0) => PredicateOp::Mov { d, a },
            (a, _) => PredicateOp::Not { d, a },
        },
    }))
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

fn pack(to: &Operand, parts: &[Operand], ty: Type, scope: &mut Scope<'_>) -> Result<Op> {
    let part = part_type(ty, parts.len())?;
    let d = scope.target(to, ty)?;
    let mut s = [DISCARD; 4];
    for (slot, operand) in s.iter_mut().zip(parts) {
        *slot = scope.source(operand, part)?;
    }
    Ok(Op::Move(match (ty.size(), parts.len()) {
        (4, 2) => Move::Pack32 { d, s: [s[0], s[1]] },
        (4, _) => Move::PackBytes { d, s },
        (_, 2) => Move::Pack64 { d, s: [s[0], s[1]] },
        _ => Move::PackQuarters { d, s },
    }))
}

fn unpack(parts: &[Operand], from: &Operand, ty: Type, scope: &mut Scope<'_>) -> Result<Op> {
    let part = part_type(ty, parts.len())?;
    let a = scope.source(from, ty)?;
    let mut d = [DISCARD; 4];
    for (slot, operand) in d.iter_mut().zip(parts) {
        *slot = scope.target_or_none(operand, part)?;
    }
    Ok(Op::Move(match (ty.size(), parts.len()) {
        (4, 2) => Move::Unpack32 { d: [d[0], d[1]], a },
        (4, _) => Move::UnpackBytes { d, a },
        (_, 2) => Move::Unpack64 { d: [d[0], d[1]], a },
        _ => Move::UnpackQuarters { d, a },
    }))
}

/// `cvta.shared.u64 d, a` and `cvta.to.shared.u64 d, a`: add or subtract the window's address.
pub(super) fn cvta(modifiers: &mut Modifiers<'_>, operands: &[Operand], scope: &mut Scope<'_>) -> Result<Op> {
    let back = modifiers.take("to");
    let spaces = [
        "shared",
        "shared::cta",
        "shared::cluster",
        "local",
        "global",
        "const",
        "param",
        "param::entry",
    ];
    let space = spaces
        .into_iter()
        .find(|space| modifiers.take(space))
        .ok_or("unknown space")?;
    if modifiers.ty()? != Type::U64 {
        return Err("addresses have 64 bits here".to_owned());
    }
    let (to, from) = (operand(operands, 0)?, operand(operands, 1)?);
    let d = scope.target(to, Type::U64)?;
    let window = Scope::window(space).unwrap_or_default();
    if let Operand::Symbol(name, addend) = from {
        return cvta_symbol(d, name, *addend, window, scope);
    }
    let a = scope.source(from, Type::U64)?;
    if window == 0 {
        return Ok(Op::Move(Move::M64 { d, a }));
    }
    let b = scope.constant64(window);
    let op = if back { IntegerOp::Sub } else { IntegerOp::Add };
    Ok(Op::Integer(Integer {
        op,
        ty: IntegerType::U64,
        d,
        s: [a, b, 0],
    }))
}

fn cvta_symbol(d: Slot, name: &str, addend: i64, window: u64, scope: &mut Scope<'_>) -> Result<Op> {
    match scope.find(name)? {
        Place::Frame(offset) => Ok(Op::LocalAddress {
            d,
            offset: frame_offset(offset, addend),
            wide: true,
            generic: true,
        }),
        Place::Shared(offset) | Place::Local(offset) | Place::Parameter(offset) => {
            let a = scope.constant64((window + u64::from(offset)).wrapping_add_signed(addend));
            Ok(Op::Move(Move::M64 { d, a }))
        }
        Place::DynamicShared => Ok(dynamic_shared(d, window.wrapping_add_signed(addend), scope)),
        _ => symbol(d, name, addend, Type::U64, scope),
    }
}

/// `isspacep.shared p, a`
pub(super) fn isspacep(modifiers: &mut Modifiers<'_>, operands: &[Operand], scope: &mut Scope<'_>) -> Result<Op> {
    let spaces = [
        ("shared", Space::Shared),
        ("shared::cta", Space::Shared),
        ("shared::cluster", Space::Shared),
        ("local", Space::Local),
        ("global", Space::Global),
        ("const", Space::Global),
        ("param", Space::Param),
        ("param::entry", Space::Param),
    ];
    let constant = modifiers.has("const");
    let space = modifiers.take_any(&spaces).ok_or("unknown space")?;
    let d = scope.predicate_target(operand(operands, 0)?)?;
    match operand(operands, 1)? {
        Operand::Register(register) if scope.slot(*register)?.0 == File::R64 => Ok(Op::IsSpace {
            d,
            a: scope.slot(*register)?.1,
            space,
            constant,
        }),
        _ => Err("addresses have 64 bits here".to_owned()),
    }
}
