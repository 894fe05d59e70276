//! Barriers, and operations among the lanes of a warp.

use graph_ptx::ast::{Operand, Type};

use super::Result;
use super::modifiers::Modifiers;
use super::operand::operand;
use super::scope::Scope;
use crate::code::{
    Barrier, BarrierOp, Collective, DISCARD, Match, Op, Reduce, ReduceOp, Shuffle, ShuffleMode, Vote, VoteOp,
};

/// `bar`, `barrier`, `bar.warp.sync`
pub(super) fn barrier(modifiers: &mut Modifiers<'_>, operands: &[Operand], scope: &mut Scope<'_>) -> Result<Op> {
    modifiers.ignore(&["cta"]);
    if modifiers.take("warp") {
        modifiers.expect("sync")?;
        return Ok(Op::Collective(Collective::Barrier {
            members: scope.source32(operand(operands, 0)?)?,
        }));
    }
    let aligned = modifiers.take("aligned") || modifiers.opcode == "bar";
    let (op, rest) = if modifiers.take("sync") {
        (BarrierOp::Sync, operands)
    } else if modifiers.take("arrive") {
        (BarrierOp::Arrive, operands)
    } else if modifiers.take("red") {
        reduction(modifiers, operands, scope)?
    } else {
        return Err("unknown form of the instruction".to_owned());
    };
    let id = scope.source32(operand(rest, 0)?)?;
    let count = match rest.get(1) {
        None => DISCARD,
        Some(count) => scope.source32(count)?,
    };
    if op == BarrierOp::Arrive && count == DISCARD {
        return Err("the number of threads is missing".to_owned());
    }
    Ok(Op::Barrier(Box::new(Barrier { op, aligned, id, count })))
}

/// `bar.red.popc.u32 d, a{, b}, p` and similar: the operation, and the operands between the destination and `p`.
fn reduction<'a>(
    modifiers: &mut Modifiers<'_>,
    operands: &'a [Operand],
    scope: &mut Scope<'_>,
) -> Result<(BarrierOp, &'a [Operand])> {
    let [target, rest @ .., predicate] = operands else {
        return Err("an operand is missing".to_owned());
    };
    let (p, flip) = scope.predicate(predicate)?;
    let op = if modifiers.take("popc") {
        modifiers.expect("u32")?;
        BarrierOp::Popc {
            d: scope.target(target, Type::U32)?,
            p,
            flip,
        }
    } else {
        let and = modifiers
            .take_any(&[("and", true), ("or", false)])
            .ok_or("unknown operation")?;
        modifiers.expect("pred")?;
        let d = scope.predicate_target(target)?;
        if d == DISCARD {
            return Err("the destination is no register".to_owned());
        }
        if and {
            BarrierOp::And { d, p, flip }
        } else {
            BarrierOp::Or { d, p, flip }
        }
    };
    Ok((op, rest))
}

/// Takes `.sync`: only the forms with a member mask exist on sm_70 and later.
fn sync(modifiers: &mut Modifiers<'_>) -> Result<()> {
    if modifiers.take("sync") {
        Ok(())
    } else {
        Err("only the `.sync` form is supported".to_owned())
    }
}

/// `shfl.sync.down.b32 d|p, a, b, c, mask`
pub(super) fn shuffle(modifiers: &mut Modifiers<'_>, operands: &[Operand], scope: &mut Scope<'_>) -> Result<Op> {
    sync(modifiers)?;
    modifiers.expect("b32")?;
    let modes = [
        ("up", ShuffleMode::Up),
        ("down", ShuffleMode::Down),
        ("bfly", ShuffleMode::Butterfly),
        ("idx", ShuffleMode::Index),
    ];
    let mode = modifiers.take_any(&modes).ok_or("unknown mode")?;
    let (d, p) = pair(operand(operands, 0)?, scope)?;
    let mut source = |index| scope.source32(operand(operands, index)?);
    let (a, b, c, mask) = (source(1)?, source(2)?, source(3)?, source(4)?);
    let shuffle = Shuffle {
        mode,
        d,
        p,
        a,
        b,
        c,
        mask,
    };
    Ok(Op::Collective(Collective::Shuffle(Box::new(shuffle))))
}

/// `d|p` or `d`
fn pair(target: &Operand, scope: &Scope<'_>) -> Result<(u32, u32)> {
    match target {
        Operand::Pair(d, p) => Ok((scope.target_or_none(d, Type::B32)?, scope.predicate_target(p)?)),
        _ => Ok((scope.target_or_none(target, Type::B32)?, DISCARD)),
    }
}

/// `vote.sync.ballot.b32 d, p, mask`
pub(super) fn vote(modifiers: &mut Modifiers<'_>, operands: &[Operand], scope: &mut Scope<'_>) -> Result<Op> {
    sync(modifiers)?;
    let ops = [
        ("all", VoteOp::All),
        ("any", VoteOp::Any),
        ("uni", VoteOp::Uniform),
        ("ballot", VoteOp::Ballot),
    ];
    let op = modifiers.take_any(&ops).ok_or("unknown mode")?;
    let target = operand(operands, 0)?;
    let d = if op == VoteOp::Ballot {
        modifiers.expect("b32")?;
        scope.target(target, Type::B32)?
    } else {
        modifiers.expect("pred")?;
        scope.predicate_target(target)?
    };
    if d == DISCARD {
        return Err("the destination is no register".to_owned());
    }
    let (p, flip) = scope.predicate(operand(operands, 1)?)?;
    let mask = scope.source32(operand(operands, 2)?)?;
    Ok(Op::Collective(Collective::Vote(Vote { op, d, p, flip, mask })))
}

/// `match.any.sync.b32 d, a, mask` and `match.all.sync.b32 d|p, a, mask`
pub(super) fn matching(modifiers: &mut Modifiers<'_>, operands: &[Operand], scope: &mut Scope<'_>) -> Result<Op> {
    sync(modifiers)?;
    let all = modifiers
        .take_any(&[("all", true), ("any", false)])
        .ok_or("unknown mode")?;
    let ty = modifiers.ty()?;
    let (d, p) = pair(operand(operands, 0)?, scope)?;
    if !all && d == DISCARD {
        return Err("the destination is no register".to_owned());
    }
    let a = scope.source(operand(operands, 1)?, ty)?;
    let mask = scope.source32(operand(operands, 2)?)?;
    let wide = ty.size() == 8;
    Ok(Op::Collective(Collective::Match(Match {
        all,
        wide,
        d,
        p,
        a,
        mask,
    })))
}

/// `redux.sync.add.s32 d, a, mask`
pub(super) fn reduce(modifiers: &mut Modifiers<'_>, operands: &[Operand], scope: &mut Scope<'_>) -> Result<Op> {
    sync(modifiers)?;
    let signed = match modifiers.ty()? {
        Type::S32 => true,
        Type::U32 | Type::B32 => false,
        _ => return Err("not a type of this instruction".to_owned()),
    };
    let ops = [
        ("add", ReduceOp::Add),
        ("min", if signed { ReduceOp::MinS } else { ReduceOp::MinU }),
        ("max", if signed { ReduceOp::MaxS } else { ReduceOp::MaxU }),
        ("and", ReduceOp::And),
        ("or", ReduceOp::Or),
        ("xor", ReduceOp::Xor),
    ];
    let op = modifiers.take_any(&ops).ok_or("unknown operation")?;
    let d = scope.target(operand(operands, 0)?, Type::B32)?;
    let a = scope.source32(operand(operands, 1)?)?;
    let mask = scope.source32(operand(operands, 2)?)?;
    Ok(Op::Collective(Collective::Reduce(Reduce { op, d, a, mask })))
}

/// `activemask.b32 d`
pub(super) fn active_mask(modifiers: &mut Modifiers<'_>, operands: &[Operand], scope: &mut Scope<'_>) -> Result<Op> {
    modifiers.expect("b32")?;
    Ok(Op::ActiveMask {
        d: scope.target(operand(operands, 0)?, Type::B32)?,
    })
}

/// `elect.sync d|p, mask`
pub(super) fn elect(modifiers: &mut Modifiers<'_>, operands: &[Operand], scope: &mut Scope<'_>) -> Result<Op> {
    sync(modifiers)?;
    let (d, p) = pair(operand(operands, 0)?, scope)?;
    let members = scope.source32(operand(operands, 1)?)?;
    Ok(Op::Collective(Collective::Elect { d, p, members }))
}
