//! Loads, stores, atomic operations, asynchronous copies.

use graph_ptx::ast::{Operand, Type};

use super::Result;
use super::modifiers::Modifiers;
use super::operand::{elements, no_more, operand};
use super::scope::Scope;
use crate::code::{AsyncCopy, Atomic, AtomicOp, AtomicType, DISCARD, File, Guard, Move, Op, Slot, Space, Transfer};

/// The state space; `Generic` if none is given.
fn space(modifiers: &mut Modifiers<'_>) -> Space {
    let spaces = [
        ("global", Space::Global),
        ("const", Space::Global),
        ("shared", Space::Shared),
        ("shared::cta", Space::Shared),
        ("shared::cluster", Space::Shared),
        ("local", Space::Local),
        ("param", Space::Param),
        ("param::entry", Space::Param),
        ("param::func", Space::Param),
    ];
    modifiers.take_any(&spaces).unwrap_or(Space::Generic)
}

/// Drops hints about caches, and returns whether there is an operand for a policy.
fn ignore_hints(modifiers: &mut Modifiers<'_>) -> bool {
    modifiers.ignore(&[
        "nc", "ca", "cg", "cs", "lu", "cv", "wb", "wt", "weak", "unified", "cta", "gpu", "sys", "cluster",
    ]);
    modifiers.ignore_prefix("L1::");
    let policy = modifiers.take("L2::cache_hint");
    modifiers.ignore_prefix("L2::");
    policy
}

/// Whether an access is `volatile`, `relaxed` and so on.
fn strong(modifiers: &mut Modifiers<'_>) -> bool {
    let mut strong = false;
    for name in ["volatile", "relaxed", "acquire", "release", "mmio"] {
        strong |= modifiers.take(name);
    }
    strong
}

/// `ld`
pub(super) fn load(modifiers: &mut Modifiers<'_>, operands: &[Operand], scope: &mut Scope<'_>) -> Result<Op> {
    let space = space(modifiers);
    let strong = strong(modifiers);
    ignore_hints(modifiers);
    let (count, ty) = shape(modifiers)?;
    let targets = parts(operand(operands, 0)?, count)?;
    let (address, space) = scope.address(operand(operands, 1)?, space)?;
    let mut access = access(space, address, ty, count, strong);
    let mut wide = None;
    for (slot, target) in access.values.iter_mut().zip(targets) {
        *slot = match target {
            Operand::Discard => DISCARD,
            Operand::Register(register) => {
                let (file, slot) = scope.slot(*register)?;
                check_file(file, ty, &mut wide)?;
                slot
            }
            _ => return Err("the destination is no register".to_owned()),
        };
    }
    access.wide = wide.unwrap_or(ty.size() == 8);
    Ok(Op::Load(Box::new(access)))
}

/// `st`
pub(super) fn store(modifiers: &mut Modifiers<'_>, operands: &[Operand], scope: &mut Scope<'_>) -> Result<Op> {
    let space = space(modifiers);
    let strong = strong(modifiers);
    ignore_hints(modifiers);
    let (count, ty) = shape(modifiers)?;
    let (address, space) = scope.address(operand(operands, 0)?, space)?;
    let sources = parts(operand(operands, 1)?, count)?;
    let mut access = access(space, address, ty, count, strong);
    let mut wide = None;
    for source in sources {
        if let Operand::Register(register) = source {
            check_file(scope.slot(*register)?.0, ty, &mut wide)?;
        }
    }
    access.wide = wide.unwrap_or(ty.size() == 8);
    for (slot, source) in access.values.iter_mut().zip(sources) {
        *slot = match source {
            Operand::Register(register) => scope.slot(*register)?.1,
            // A literal among wider registers is in a slot of their width.
            _ if access.wide && ty.size() < 8 => scope.source(source, Type::B64)?,
            _ => scope.source(source, ty)?,
        };
    }
    Ok(Op::Store(Box::new(access)))
}

/// A load or a store. The registers may be wider than the type, but must have one width.
fn check_file(file: File, ty: Type, wide: &mut Option<bool>) -> Result<()> {
    let is_wide = match file {
        File::Predicate => return Err("a predicate cannot be loaded or stored".to_owned()),
        File::R32 if ty.size() == 8 => return Err("a register is narrower than the type".to_owned()),
        File::R32 => false,
        File::R64 => true,
    };
    if *wide.get_or_insert(is_wide) == is_wide {
        Ok(())
    } else {
        Err("registers of several widths".to_owned())
    }
}

fn access(space: Space, address: crate::code::Address, ty: Type, count: usize, strong: bool) -> Transfer {
    Transfer {
        space,
        address,
        bytes: ty.size() as u8,
        signed: matches!(ty, Type::S8 | Type::S16 | Type::S32),
        count: count as u8,
        wide: false,
        strong,
        values: [DISCARD; 8],
    }
}

/// The number and the type of elements.
fn shape(modifiers: &mut Modifiers<'_>) -> Result<(usize, Type)> {
    let count = modifiers.take_any(&[("v2", 2), ("v4", 4), ("v8", 8)]).unwrap_or(1);
    let ty = modifiers.ty()?;
    if matches!(ty, Type::B128 | Type::Pred | Type::Opaque) || count * ty.size() > 32 {
        return Err("accesses of this type are not supported".to_owned());
    }
    Ok((count, ty))
}

/// The registers of a vector, or the one operand.
pub(super) fn parts(operand: &Operand, count: usize) -> Result<&[Operand]> {
    let parts = elements(operand);
    if parts.len() == count {
        Ok(parts)
    } else {
        Err(format!("{count} registers are expected"))
    }
}

/// `atom` and `red`
pub(super) fn atomic(modifiers: &mut Modifiers<'_>, operands: &[Operand], scope: &mut Scope<'_>) -> Result<Op> {
    let reduce = modifiers.opcode == "red";
    let space = space(modifiers);
    modifiers.ignore(&[
        "relaxed", "acquire", "release", "acq_rel", "noftz", "cta", "gpu", "sys", "cluster",
    ]);
    let policy = usize::from(ignore_hints(modifiers));
    let op = atomic_op(modifiers)?;
    let count = modifiers.take_any(&[("v2", 2), ("v4", 4), ("v8", 8)]);
    let ty = modifiers.ty()?;
    let kind = atomic_type(op, ty)?;
    let first = usize::from(!reduce);
    let (address, space) = scope.address(operand(operands, first)?, space)?;
    if let Some(count) = count {
        no_more(operands, first + 2 + policy)?;
        let targets = (!reduce).then(|| operand(operands, 0)).transpose()?;
        let sources = operand(operands, first + 1)?;
        return atomic_vector(count, ty, targets, sources, scope, |d, b, offset| Atomic {
            op,
            ty: kind,
            space,
            address: crate::code::Address {
                offset: address.offset.wrapping_add(offset),
                ..address
            },
            d,
            b,
            c: 0,
        });
    }
    let d = if reduce {
        DISCARD
    } else {
        scope.target_or_none(operand(operands, 0)?, ty)?
    };
    let b = scope.source(operand(operands, first + 1)?, ty)?;
    let c = if op == AtomicOp::CompareExchange {
        scope.source(operand(operands, first + 2)?, ty)?
    } else {
        0
    };
    let count = first + 2 + usize::from(op == AtomicOp::CompareExchange) + policy;
    if operands.len() > count {
        return Err("too many operands".to_owned());
    }
    Ok(Op::Atomic(Box::new(Atomic {
        op,
        ty: kind,
        space,
        address,
        d,
        b,
        c,
    })))
}

/// `red.global.add.v4.f32`: one operation after the other. PTX promises no more.
fn atomic_vector(
    count: usize,
    ty: Type,
    targets: Option<&Operand>,
    sources: &Operand,
    scope: &mut Scope<'_>,
    element: impl Fn(Slot, Slot, i64) -> Atomic,
) -> Result<Op> {
    if count * ty.size() > 16 || !matches!(ty, Type::F32 | Type::F16 | Type::F16x2 | Type::BF16 | Type::BF16x2) {
        return Err("the operation does not go with the type".to_owned());
    }
    let sources = parts(sources, count)?;
    let targets = targets.map(|targets| parts(targets, count)).transpose()?;
    let mut ops = Vec::with_capacity(count);
    for (index, source) in sources.iter().enumerate() {
        let d = match targets {
            Some(targets) => scope.target_or_none(&targets[index], ty)?,
            None => DISCARD,
        };
        let b = scope.source(source, ty)?;
        let offset = (index * ty.size()) as i64;
        ops.push(Op::Atomic(Box::new(element(d, b, offset))));
    }
    Ok(Op::Sequence(ops.into()))
}

fn atomic_op(modifiers: &mut Modifiers<'_>) -> Result<AtomicOp> {
    let ops = [
        ("add", AtomicOp::Add),
        ("and", AtomicOp::And),
        ("or", AtomicOp::Or),
        ("xor", AtomicOp::Xor),
        ("exch", AtomicOp::Exchange),
        ("cas", AtomicOp::CompareExchange),
        ("inc", AtomicOp::Inc),
        ("dec", AtomicOp::Dec),
        ("min", AtomicOp::Min),
        ("max", AtomicOp::Max),
    ];
    modifiers.take_any(&ops).ok_or_else(|| "unknown operation".to_owned())
}

fn atomic_type(op: AtomicOp, ty: Type) -> Result<AtomicType> {
    let extreme = matches!(op, AtomicOp::Min | AtomicOp::Max);
    let bitwise = matches!(op, AtomicOp::Exchange | AtomicOp::CompareExchange);
    Ok(match ty {
        Type::B16 | Type::U16 if bitwise => AtomicType::B16,
        Type::B32 | Type::U32 => AtomicType::B32,
        Type::S32 => AtomicType::S32,
        Type::B64 | Type::U64 => AtomicType::B64,
        Type::S64 => AtomicType::S64,
        Type::F32 if op == AtomicOp::Add => AtomicType::F32,
        Type::F64 if op == AtomicOp::Add => AtomicType::F64,
        Type::F16 if op == AtomicOp::Add || extreme => AtomicType::F16,
        Type::F16x2 if op == AtomicOp::Add || extreme => AtomicType::F16x2,
        Type::BF16 if op == AtomicOp::Add || extreme => AtomicType::Bf16,
        Type::BF16x2 if op == AtomicOp::Add || extreme => AtomicType::Bf16x2,
        _ => return Err("the operation does not go with the type".to_owned()),
    })
}

/// `cp.async`: copies, and waits for them, which do nothing since copies are carried out at once.
pub(super) fn async_copy(modifiers: &mut Modifiers<'_>, operands: &[Operand], scope: &mut Scope<'_>) -> Result<Op> {
    modifiers.expect("async")?;
    if modifiers.take("commit_group") || modifiers.take("wait_group") || modifiers.take("wait_all") {
        return Ok(Op::Nop);
    }
    if !modifiers.take("shared") && !modifiers.take("shared::cta") {
        return Err("this form is not supported".to_owned());
    }
    modifiers.expect("global")?;
    let policy = ignore_hints(modifiers);
    let (to, _) = scope.address(operand(operands, 0)?, Space::Shared)?;
    let (from, _) = scope.address(operand(operands, 1)?, Space::Global)?;
    let bytes = match operand(operands, 2)? {
        Operand::Integer(bytes @ (4 | 8 | 16)) => *bytes as u8,
        _ => return Err("the size must be 4, 8 or 16".to_owned()),
    };
    no_more(operands, 4 + usize::from(policy))?;
    // A cache policy comes last.
    let fourth = operands.get(3).filter(|_| !policy || operands.len() > 4);
    let (mut source_bytes, mut ignore) = (DISCARD, None);
    match fourth {
        None => {}
        Some(operand) if is_predicate(operand, scope)? => {
            let (predicate, flip) = scope.predicate(operand)?;
            ignore = Some(Guard { predicate, flip });
        }
        Some(operand) => source_bytes = scope.source32(operand)?,
    }
    Ok(Op::AsyncCopy(Box::new(AsyncCopy {
        to,
        from,
        bytes,
        source_bytes,
        ignore,
    })))
}

fn is_predicate(operand: &Operand, scope: &Scope<'_>) -> Result<bool> {
    match operand {
        Operand::NotPredicate(_) => Ok(true),
        Operand::Register(register) => Ok(scope.slot(*register)?.0 == File::Predicate),
        _ => Ok(false),
    }
}

/// `createpolicy`: a hint about caches for other instructions, which ignore it.
pub(super) fn create_policy(modifiers: &mut Modifiers<'_>, operands: &[Operand], scope: &mut Scope<'_>) -> Result<Op> {
    let forms = [("fractional", ()), ("range", ()), ("cvt", ())];
    modifiers.take_any(&forms).ok_or("unknown form of the instruction")?;
    modifiers.ignore(&["global", "L2"]);
    modifiers.ignore_prefix("L2::");
    modifiers.expect("b64")?;
    Ok(Op::Move(Move::M64 {
        d: scope.target(operand(operands, 0)?, Type::B64)?,
        a: scope.constant64(0),
    }))
}

/// `discard.global.L2 [a], 128`: writes bytes that a program must not rely on.
pub(super) fn discard(modifiers: &mut Modifiers<'_>, operands: &[Operand], scope: &mut Scope<'_>) -> Result<Op> {
    /// The bytes of a cache line, which is the only size that PTX has.
    const LINE: i128 = 128;
    const UNSPECIFIED: u64 = 0xdddd_dddd_dddd_dddd;
    let space = space(modifiers);
    modifiers.expect("L2")?;
    no_more(operands, 2)?;
    if *operand(operands, 1)? != Operand::Integer(LINE) {
        return Err("the size must be 128".to_owned());
    }
    let (address, space) = scope.address(operand(operands, 0)?, space)?;
    let value = scope.constant64(UNSPECIFIED);
    let part = |start: i64| {
        let address = crate::code::Address {
            offset: address.offset.wrapping_add(start),
            ..address
        };
        let mut store = access(space, address, Type::B64, 4, false);
        store.wide = true;
        store.values[..4].fill(value);
        Op::Store(Box::new(store))
    };
    Ok(Op::Sequence([0, 32, 64, 96].map(part).into()))
}
