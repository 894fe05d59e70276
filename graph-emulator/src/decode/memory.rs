//! Loads, stores, atomic operations, asynchronous copies.

use graph_ptx::ast::{Operand, Type};

use super::Result;
use super::operand::number_type;
use super::reader::Reader;
use super::warp_primitives::ATOMIC_OPS;
use crate::code::{
    Address, AsyncCopy, AsyncStore, Atomic, AtomicOp, DISCARD, File, FloatType, IntegerType, LaneOp, Mbarrier,
    MbarrierOp, MemoryOp, Move, NumberType, Op, Role, Space, Transfer,
};

/// The state space; `Generic` if none is given.
fn space(reader: &mut Reader<'_, '_>) -> Space {
    let shared = ["shared", "shared::cta", "shared::cluster"];
    let others = ["global", "const", "local", "param", "param::entry", "param::func"];
    let space = reader.space(&shared).or_else(|| reader.space(&others));
    space.unwrap_or(Space::Generic)
}

/// Drops hints about caches, and returns whether there is an operand for a policy.
fn ignore_hints(reader: &mut Reader<'_, '_>) -> bool {
    reader.ignore(&[
        "nc", "ca", "cg", "cs", "lu", "cv", "wb", "wt", "weak", "unified", "cta", "gpu", "sys", "cluster",
    ]);
    reader.ignore_prefix("L1::");
    let policy = reader.take("L2::cache_hint");
    reader.ignore_prefix("L2::");
    policy
}

/// Whether an access is `volatile`, `relaxed` and so on.
fn strong(reader: &mut Reader<'_, '_>) -> bool {
    let names = ["volatile", "relaxed", "acquire", "release", "mmio"];
    names.into_iter().filter(|name| reader.take(name)).count() != 0
}

/// `ld` and `st`
pub(super) fn transfer(reader: &mut Reader<'_, '_>) -> Result<Op> {
    let op = match reader.opcode {
        "st" => MemoryOp::Store,
        _ => MemoryOp::Load,
    };
    Ok(op(Box::new(transferred(reader)?)).into())
}

/// The access of `ld` or `st`.
pub(super) fn transferred(reader: &mut Reader<'_, '_>) -> Result<Transfer> {
    let store = reader.opcode == "st";
    let space = space(reader);
    let strong = strong(reader);
    ignore_hints(reader);
    let (count, ty) = shape(reader)?;
    let (values, address, role) = if store {
        (1, 0, Role::Source)
    } else {
        (0, 1, Role::Target)
    };
    let halves;
    let whole = ty == Type::B128;
    let (values, ty) = if whole {
        halves = reader.scope.halves(reader.operand(values)?)?;
        (&halves[..], Type::B64)
    } else {
        (reader.parts(values, count)?, ty)
    };
    let (address, space) = reader.address(address, space)?;
    let mut access = access(space, address, ty, values.len(), strong);
    access.whole = whole;
    let mut wide = None;
    for value in values {
        if let Operand::Register(register) = value {
            check_file(reader.scope.slot(*register)?.0, ty, &mut wide)?;
        }
    }
    access.wide = wide.unwrap_or(ty.size() == 8);
    for (slot, value) in access.values.iter_mut().zip(values) {
        *slot = match value {
            Operand::Register(register) => {
                let register = reader.scope.slot(*register)?;
                reader.scope.uses(register, role)
            }
            Operand::Discard if !store => DISCARD,
            _ if !store => return Err("the destination is no register".to_owned()),
            // A literal among wider registers is in a slot of their width.
            _ if access.wide && ty.size() < 8 => reader.scope.source(value, Type::B64)?,
            _ => reader.scope.source(value, ty)?,
        };
    }
    Ok(access)
}

/// `st.async`: a store to shared memory of a block of the cluster, of whose bytes an `mbarrier` there is told.
pub(super) fn async_store(reader: &mut Reader<'_, '_>) -> Result<Op> {
    reader.expect("async")?;
    reader.expect("mbarrier::complete_tx::bytes")?;
    let store = transferred(reader)?;
    if store.space != Space::Shared {
        return Err("the space is not `.shared::cluster`".to_owned());
    }
    reader.no_more(3)?;
    let bytes = reader.scope.constant32(u32::from(store.bytes) * u32::from(store.count));
    let (address, space) = reader.address(2, Space::Shared)?;
    let op = MbarrierOp::Complete { bytes };
    let barrier = Mbarrier { op, space, address };
    Ok(MemoryOp::AsyncStore(Box::new(AsyncStore { store, barrier })).into())
}

/// Notes the width of a register that is loaded or stored. Registers may be wider than the type, but must have one
/// width.
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

fn access(space: Space, address: Address, ty: Type, count: usize, strong: bool) -> Transfer {
    Transfer {
        space,
        address,
        bytes: ty.size() as u8,
        signed: matches!(ty, Type::S8 | Type::S16 | Type::S32),
        count: count as u8,
        wide: false,
        strong,
        whole: false,
        values: [DISCARD; 8],
    }
}

/// The number and the type of elements.
fn shape(reader: &mut Reader<'_, '_>) -> Result<(usize, Type)> {
    let count = reader.take_any(&[("v2", 2), ("v4", 4), ("v8", 8)]).unwrap_or(1);
    let ty = reader.ty()?;
    let vector_of_whole = ty == Type::B128 && count > 1;
    if matches!(ty, Type::Pred | Type::Opaque) || vector_of_whole || count * ty.size() > 32 {
        return Err("accesses of this type are not supported".to_owned());
    }
    Ok((count, ty))
}

/// `atom` and `red`
pub(super) fn atomic(reader: &mut Reader<'_, '_>) -> Result<Op> {
    let reduce = reader.opcode == "red";
    let space = space(reader);
    reader.ignore(&[
        "relaxed", "acquire", "release", "acq_rel", "noftz", "cta", "gpu", "sys", "cluster",
    ]);
    let policy = usize::from(ignore_hints(reader));
    let op = reader.one_of(&ATOMIC_OPS, "unknown operation")?;
    let parts = reader.take_any(&[("v2", 2), ("v4", 4), ("v8", 8)]);
    let ty = reader.ty()?;
    let kind = atomic_type(op, ty)?;
    let first = usize::from(!reduce);
    let (address, space) = reader.address(first, space)?;
    let swaps = op == AtomicOp::CompareExchange;
    reader.no_more(first + 2 + usize::from(swaps) + policy)?;
    let vectors = [Type::F32, Type::F16, Type::F16x2, Type::BF16, Type::BF16x2];
    if parts.is_some_and(|count| count * ty.size() > 16 || !vectors.contains(&ty)) {
        return Err("the operation does not go with the type".to_owned());
    }
    let count = parts.unwrap_or(1);
    let sources = reader.parts(first + 1, count)?;
    let targets = (!reduce).then(|| reader.parts(0, count)).transpose()?;
    let c = if swaps { reader.source(first + 2, ty)? } else { 0 };
    let mut ops = Vec::with_capacity(count);
    for (index, source) in sources.iter().enumerate() {
        let d = match targets {
            Some(targets) => reader.scope.target_or_none(&targets[index], ty)?,
            None => DISCARD,
        };
        ops.push(MemoryOp::Atomic(Box::new(Atomic {
            op,
            ty: kind,
            space,
            address: address.after((index * ty.size()) as i64),
            d,
            b: reader.scope.source(source, ty)?,
            c,
        })));
    }
    // `red.global.add.v4.f32`: one operation after the other. PTX promises no more.
    let mut ops = ops.into_iter().map(Op::from);
    match (ops.next(), parts) {
        (Some(only), None) => Ok(only),
        (first, _) => Ok(Op::Sequence(first.into_iter().chain(ops).collect())),
    }
}

fn atomic_type(op: AtomicOp, ty: Type) -> Result<NumberType> {
    let fits = |ty: &NumberType| match ty {
        NumberType::Integer(IntegerType::U16) => matches!(op, AtomicOp::Exchange | AtomicOp::CompareExchange),
        NumberType::Integer(ty) => *ty != IntegerType::S16,
        NumberType::Float(FloatType::F32 | FloatType::F64) => op == AtomicOp::Add,
        NumberType::Float(_) => matches!(op, AtomicOp::Add | AtomicOp::Min | AtomicOp::Max),
    };
    let ty = number_type(ty).ok().filter(fits);
    ty.ok_or_else(|| "the operation does not go with the type".to_owned())
}

/// `cp.async`: copies, and waits for them, which do nothing since copies are carried out at once.
pub(super) fn async_copy(reader: &mut Reader<'_, '_>) -> Result<Op> {
    reader.expect("async")?;
    if reader.take("commit_group") || reader.take("wait_group") || reader.take("wait_all") {
        return Ok(Op::Nop);
    }
    if !reader.take("shared") && !reader.take("shared::cta") {
        return Err("this form is not supported".to_owned());
    }
    reader.expect("global")?;
    let policy = ignore_hints(reader);
    let (to, _) = reader.address(0, Space::Shared)?;
    let (from, _) = reader.address(1, Space::Global)?;
    let bytes = match reader.operand(2)? {
        Operand::Integer(bytes @ (4 | 8 | 16)) => *bytes as u8,
        _ => return Err("the size must be 4, 8 or 16".to_owned()),
    };
    reader.no_more(4 + usize::from(policy))?;
    // A cache policy comes last.
    let fourth = reader.operands.get(3).filter(|_| !policy || reader.operands.len() > 4);
    let (mut source_bytes, mut ignore) = (DISCARD, None);
    match fourth {
        None => {}
        Some(operand) if is_predicate(operand, reader)? => ignore = Some(reader.predicate(3)?),
        Some(_) => source_bytes = reader.source32(3)?,
    }
    Ok(MemoryOp::AsyncCopy(Box::new(AsyncCopy {
        to,
        from,
        bytes,
        source_bytes,
        ignore,
    }))
    .into())
}

fn is_predicate(operand: &Operand, reader: &Reader<'_, '_>) -> Result<bool> {
    match operand {
        Operand::NotPredicate(_) => Ok(true),
        Operand::Register(register) => Ok(reader.scope.slot(*register)?.0 == File::Predicate),
        _ => Ok(false),
    }
}

/// `createpolicy`: a hint about caches for other instructions, which ignore it.
pub(super) fn create_policy(reader: &mut Reader<'_, '_>) -> Result<Op> {
    let forms = [("fractional", ()), ("range", ()), ("cvt", ())];
    reader.one_of(&forms, "unknown form of the instruction")?;
    reader.ignore(&["global", "L2"]);
    reader.ignore_prefix("L2::");
    reader.expect("b64")?;
    let (d, a) = (reader.target(0, Type::B64)?, reader.scope.constant64(0));
    Ok(LaneOp::Move(Move::Copy { wide: true, d, a }).into())
}

/// `discard.global.L2 [a], 128`: writes bytes that a program must not rely on.
pub(super) fn discard(reader: &mut Reader<'_, '_>) -> Result<Op> {
    /// The bytes of a cache line, which is the only size that PTX has.
    const LINE: i128 = 128;
    const UNSPECIFIED: u64 = 0xdddd_dddd_dddd_dddd;
    let space = space(reader);
    reader.expect("L2")?;
    reader.no_more(2)?;
    if *reader.operand(1)? != Operand::Integer(LINE) {
        return Err("the size must be 128".to_owned());
    }
    let (address, space) = reader.address(0, space)?;
    let value = reader.scope.constant64(UNSPECIFIED);
    let part = |start: i64| {
        let mut store = access(space, address.after(start), Type::B64, 4, false);
        store.wide = true;
        store.values[..4].fill(value);
        MemoryOp::Store(Box::new(store)).into()
    };
    Ok(Op::Sequence([0, 32, 64, 96].map(part).into()))
}
