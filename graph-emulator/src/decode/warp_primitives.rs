//! Barriers, and operations among the lanes of a warp.

use graph_ptx::ast::{Operand, Type};

use super::Result;
use super::operand::number_type;
use super::reader::Reader;
use crate::code::{
    AtomicOp, Barrier, BarrierOp, BarrierReduction, Collective, DISCARD, IntegerType, Match, NumberType, Op, Query,
    Reduce, Shuffle, ShuffleMode, Slot, Vote, VoteOp, Wait,
};

/// `bar`, `barrier`, `bar.warp.sync`
pub(super) fn barrier(reader: &mut Reader<'_, '_>) -> Result<Op> {
    reader.ignore(&["cta"]);
    if reader.take("warp") {
        reader.expect("sync")?;
        let members = reader.source32(0)?;
        return Ok(Op::Collective(Collective::Barrier { members }));
    }
    let aligned = reader.take("aligned") || reader.opcode == "bar";
    let (op, rest) = if reader.take("sync") {
        (BarrierOp::Sync, reader.operands)
    } else if reader.take("arrive") {
        (BarrierOp::Arrive, reader.operands)
    } else if reader.take("red") {
        reduction(reader)?
    } else {
        return Err("unknown form of the instruction".to_owned());
    };
    let id = reader.scope.source32(rest.first().ok_or("an operand is missing")?)?;
    let count = match rest.get(1) {
        None => DISCARD,
        Some(count) => reader.scope.source32(count)?,
    };
    if op == BarrierOp::Arrive && count == DISCARD {
        return Err("the number of threads is missing".to_owned());
    }
    Ok(Wait::Barrier(Box::new(Barrier { op, aligned, id, count })).into())
}

/// `bar.red.popc.u32 d, a{, b}, p` and similar: the operation, and the operands between the destination and `p`.
fn reduction<'r>(reader: &mut Reader<'r, '_>) -> Result<(BarrierOp, &'r [Operand])> {
    let [target, rest @ .., predicate] = reader.operands else {
        return Err("an operand is missing".to_owned());
    };
    let p = reader.scope.predicate(predicate)?;
    let ops = [
        ("popc", BarrierReduction::Popc),
        ("and", BarrierReduction::And),
        ("or", BarrierReduction::Or),
    ];
    let op = reader.one_of(&ops, "unknown operation")?;
    let d = result(target, op == BarrierReduction::Popc, "u32", reader)?;
    Ok((BarrierOp::Reduce { op, d, p }, rest))
}

/// The destination of an operation that gives a number of this type, or a predicate.
fn result(target: &Operand, is_number: bool, ty: &str, reader: &mut Reader<'_, '_>) -> Result<Slot> {
    reader.expect(if is_number { ty } else { "pred" })?;
    let d = if is_number {
        reader.scope.target(target, Type::B32)?
    } else {
        reader.scope.predicate_target(target)?
    };
    if d == DISCARD {
        return Err("the destination is no register".to_owned());
    }
    Ok(d)
}

/// Takes `.sync`: only the forms with a member mask exist on sm_70 and later.
fn sync(reader: &mut Reader<'_, '_>) -> Result<()> {
    if reader.take("sync") {
        Ok(())
    } else {
        Err("only the `.sync` form is supported".to_owned())
    }
}

/// `shfl.sync.down.b32 d|p, a, b, c, mask`
pub(super) fn shuffle(reader: &mut Reader<'_, '_>) -> Result<Op> {
    sync(reader)?;
    reader.expect("b32")?;
    let modes = [
        ("up", ShuffleMode::Up),
        ("down", ShuffleMode::Down),
        ("bfly", ShuffleMode::Butterfly),
        ("idx", ShuffleMode::Index),
    ];
    let mode = reader.one_of(&modes, "unknown mode")?;
    let (d, p) = pair(reader)?;
    Ok(Op::Collective(Collective::Shuffle(Box::new(Shuffle {
        mode,
        d,
        p,
        a: reader.source32(1)?,
        b: reader.source32(2)?,
        c: reader.source32(3)?,
        mask: reader.source32(4)?,
    }))))
}

/// The destination `d|p` or `d`.
fn pair(reader: &mut Reader<'_, '_>) -> Result<(Slot, Slot)> {
    let scope = &mut *reader.scope;
    match reader.operands.first() {
        Some(Operand::Pair(d, p)) => Ok((scope.target_or_none(d, Type::B32)?, scope.predicate_target(p)?)),
        _ => Ok((reader.target_or_none(0, Type::B32)?, DISCARD)),
    }
}

/// `vote.sync.ballot.b32 d, p, mask`
pub(super) fn vote(reader: &mut Reader<'_, '_>) -> Result<Op> {
    sync(reader)?;
    let ops = [
        ("all", VoteOp::All),
        ("any", VoteOp::Any),
        ("uni", VoteOp::Uniform),
        ("ballot", VoteOp::Ballot),
    ];
    let op = reader.one_of(&ops, "unknown mode")?;
    let d = result(reader.operand(0)?, op == VoteOp::Ballot, "b32", reader)?;
    let (p, mask) = (reader.predicate(1)?, reader.source32(2)?);
    Ok(Op::Collective(Collective::Vote(Vote { op, d, p, mask })))
}

/// `match.any.sync.b32 d, a, mask` and `match.all.sync.b32 d|p, a, mask`
pub(super) fn matching(reader: &mut Reader<'_, '_>) -> Result<Op> {
    sync(reader)?;
    let all = reader.one_of(&[("all", true), ("any", false)], "unknown mode")?;
    let ty = reader.ty()?;
    let (d, p) = pair(reader)?;
    if !all && d == DISCARD {
        return Err("the destination is no register".to_owned());
    }
    Ok(Op::Collective(Collective::Match(Match {
        all,
        wide: ty.size() == 8,
        d,
        p,
        a: reader.source(1, ty)?,
        mask: reader.source32(2)?,
    })))
}

/// The operations that update memory; some of them combine the values of lanes, too.
pub(super) const ATOMIC_OPS: [(&str, AtomicOp); 10] = [
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

/// `redux.sync.add.s32 d, a, mask`
pub(super) fn reduce(reader: &mut Reader<'_, '_>) -> Result<Op> {
    sync(reader)?;
    let ty = number_type(reader.ty()?)?;
    if !matches!(ty, NumberType::Integer(IntegerType::S32 | IntegerType::U32)) {
        return Err("not a type of this instruction".to_owned());
    }
    let op = reader.one_of(&ATOMIC_OPS, "unknown operation")?;
    if matches!(
        op,
        AtomicOp::Exchange | AtomicOp::CompareExchange | AtomicOp::Inc | AtomicOp::Dec
    ) {
        return Err("unknown operation".to_owned());
    }
    let (d, a, mask) = (reader.target(0, Type::B32)?, reader.source32(1)?, reader.source32(2)?);
    Ok(Op::Collective(Collective::Reduce(Reduce { op, ty, d, a, mask })))
}

/// `activemask.b32 d`
pub(super) fn active_mask(reader: &mut Reader<'_, '_>) -> Result<Op> {
    reader.expect("b32")?;
    let d = reader.target(0, Type::B32)?;
    Ok(Query::ActiveMask { d }.into())
}

/// `elect.sync d|p, mask`
pub(super) fn elect(reader: &mut Reader<'_, '_>) -> Result<Op> {
    sync(reader)?;
    let (d, p) = pair(reader)?;
    let members = reader.source32(1)?;
    Ok(Op::Collective(Collective::Elect { d, p, members }))
}
