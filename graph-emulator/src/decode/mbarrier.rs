//! `mbarrier`, `cp.async.bulk`, and the instructions of clusters.

use graph_ptx::ast::{Operand, Type};

use super::Result;
use super::modifiers::Modifiers;
use super::operand::{no_more, operand};
use super::scope::Scope;
use crate::code::{
    Arrive, BulkCopy, ClusterAddress, ClusterAddressOp, ClusterBarrier, Convert, ConvertType, DISCARD, Mbarrier,
    MbarrierOp, Op, Phase, Space,
};
use crate::softfloat::Rounding;

/// `mbarrier`
pub(super) fn mbarrier(modifiers: &mut Modifiers<'_>, operands: &[Operand], scope: &mut Scope<'_>) -> Result<Op> {
    if modifiers.take("pending_count") {
        modifiers.expect("b64")?;
        no_more(operands, 2)?;
        return pending_count(operands, scope);
    }
    let spaces = [
        ("shared", Space::Shared),
        ("shared::cta", Space::Shared),
        ("shared::cluster", Space::Shared),
    ];
    let space = modifiers.take_any(&spaces).unwrap_or(Space::Generic);
    modifiers.ignore(&["release", "acquire", "relaxed", "cta", "cluster"]);
    modifiers.expect("b64")?;
    let source = |index: usize, scope: &mut Scope<'_>| scope.source32(operand(operands, index)?);
    let (op, at) = if modifiers.take("init") {
        no_more(operands, 2)?;
        let count = source(1, scope)?;
        (MbarrierOp::Init { count }, 0)
    } else if modifiers.take("inval") {
        no_more(operands, 1)?;
        (MbarrierOp::Invalidate, 0)
    } else if modifiers.has("arrive") || modifiers.has("arrive_drop") {
        no_more(operands, 3)?;
        (MbarrierOp::Arrive(arrive(modifiers, operands, scope)?), 1)
    } else if modifiers.take("expect_tx") {
        no_more(operands, 2)?;
        let bytes = source(1, scope)?;
        (MbarrierOp::Expect { bytes }, 0)
    } else if modifiers.take("complete_tx") {
        no_more(operands, 2)?;
        let bytes = source(1, scope)?;
        (MbarrierOp::Complete { bytes }, 0)
    } else if modifiers.take("test_wait") || modifiers.take("try_wait") {
        // The last operand of `try_wait` is the time to wait.
        no_more(operands, 4)?;
        let p = scope.predicate_target(operand(operands, 0)?)?;
        if p == DISCARD {
            return Err("the destination is no register".to_owned());
        }
        let phase = if modifiers.take("parity") {
            Phase::Parity(source(2, scope)?)
        } else {
            Phase::State(scope.source(operand(operands, 2)?, Type::B64)?)
        };
        (MbarrierOp::Wait { p, phase }, 1)
    } else {
        return Err("unknown form of the instruction".to_owned());
    };
    let (address, space) = scope.address(operand(operands, at)?, space)?;
    Ok(Op::Mbarrier(Box::new(Mbarrier { op, space, address })))
}

/// `mbarrier.arrive{.expect_tx}{.noComplete} state, [a]{, count}` and `mbarrier.arrive_drop`
fn arrive(modifiers: &mut Modifiers<'_>, operands: &[Operand], scope: &mut Scope<'_>) -> Result<Arrive> {
    let drops = modifiers.take("arrive_drop");
    if !drops {
        modifiers.expect("arrive")?;
    }
    let state = scope.target_or_none(operand(operands, 0)?, Type::B64)?;
    let incomplete = modifiers.take("noComplete");
    let given = operands.get(2).map(|given| scope.source32(given)).transpose()?;
    let one = scope.constant32(1);
    let (count, expects) = match (modifiers.take("expect_tx"), given) {
        (true, None) => return Err("the number of bytes is missing".to_owned()),
        (true, Some(bytes)) => (one, bytes),
        (false, given) => (given.unwrap_or(one), DISCARD),
    };
    Ok(Arrive {
        state,
        count,
        expects,
        drops,
        incomplete,
    })
}

/// `mbarrier.pending_count.b64 count, state`: the lower half of a state is that number.
fn pending_count(operands: &[Operand], scope: &mut Scope<'_>) -> Result<Op> {
    let integer = |bytes| ConvertType::Integer { bytes, signed: false };
    Ok(Op::Convert(Convert {
        from: integer(8),
        to: integer(4),
        round: Rounding::Zero,
        integral: false,
        ftz: false,
        sat: false,
        relu: false,
        from_wide: true,
        to_wide: false,
        d: scope.target(operand(operands, 0)?, Type::U32)?,
        a: scope.source(operand(operands, 1)?, Type::B64)?,
        b: DISCARD,
    }))
}

/// `cp.async.mbarrier.arrive`
pub(super) fn copied(modifiers: &mut Modifiers<'_>, operands: &[Operand], scope: &mut Scope<'_>) -> Result<Op> {
    modifiers.expect("async")?;
    modifiers.expect("mbarrier")?;
    modifiers.expect("arrive")?;
    modifiers.expect("b64")?;
    no_more(operands, 1)?;
    let adds = !modifiers.take("noinc");
    let shared = modifiers.take("shared") || modifiers.take("shared::cta");
    let space = if shared { Space::Shared } else { Space::Generic };
    let (address, space) = scope.address(operand(operands, 0)?, space)?;
    let op = MbarrierOp::Copied { adds };
    Ok(Op::Mbarrier(Box::new(Mbarrier { op, space, address })))
}

/// `cp.async.bulk`
pub(super) fn bulk(modifiers: &mut Modifiers<'_>, operands: &[Operand], scope: &mut Scope<'_>) -> Result<Op> {
    modifiers.expect("async")?;
    modifiers.expect("bulk")?;
    // Copies are over at once, so that there is nothing to wait for.
    if modifiers.take("commit_group") || modifiers.take("wait_group") {
        modifiers.take("read");
        return Ok(Op::Nop);
    }
    if modifiers.take("prefetch") {
        modifiers.ignore_all();
        return Ok(Op::Nop);
    }
    let spaces = [
        ("global", Space::Global),
        ("shared::cta", Space::Shared),
        ("shared::cluster", Space::Shared),
    ];
    let mut space = || modifiers.take_first(&spaces).ok_or("the space is missing");
    let (to_space, from_space) = (space()?, space()?);
    let policy = usize::from(modifiers.take("L2::cache_hint"));
    let arrives = to_space == Space::Shared;
    modifiers.expect(if arrives {
        "mbarrier::complete_tx::bytes"
    } else {
        "bulk_group"
    })?;
    no_more(operands, 3 + usize::from(arrives) + policy)?;
    let (to, to_space) = scope.address(operand(operands, 0)?, to_space)?;
    let (from, from_space) = scope.address(operand(operands, 1)?, from_space)?;
    let bytes = scope.source32(operand(operands, 2)?)?;
    let barrier = if arrives {
        Some(scope.address(operand(operands, 3)?, Space::Shared)?.0)
    } else {
        None
    };
    Ok(Op::BulkCopy(Box::new(BulkCopy {
        spaces: (to_space, from_space),
        to,
        from,
        bytes,
        barrier,
    })))
}

/// `barrier.cluster.arrive` and `barrier.cluster.wait`
pub(super) fn cluster_barrier(modifiers: &mut Modifiers<'_>, operands: &[Operand]) -> Result<Op> {
    modifiers.expect("cluster")?;
    modifiers.ignore(&["aligned", "release", "acquire", "relaxed"]);
    no_more(operands, 0)?;
    if modifiers.take("wait") {
        return Ok(Op::Cluster(ClusterBarrier::Wait));
    }
    modifiers.expect("arrive")?;
    Ok(Op::Cluster(ClusterBarrier::Arrive))
}

/// `mapa d, a, rank`: the address `a` in the block of this rank.
pub(super) fn map_address(modifiers: &mut Modifiers<'_>, operands: &[Operand], scope: &mut Scope<'_>) -> Result<Op> {
    modifiers.take("shared::cluster");
    let ty = modifiers.ty()?;
    if !matches!(ty, Type::U32 | Type::U64) {
        return Err("not a type of this instruction".to_owned());
    }
    no_more(operands, 3)?;
    Ok(Op::ClusterAddress(ClusterAddress {
        d: scope.target(operand(operands, 0)?, ty)?,
        a: scope.source(operand(operands, 1)?, ty)?,
        op: ClusterAddressOp::Map {
            rank: scope.source32(operand(operands, 2)?)?,
        },
        wide: ty == Type::U64,
    }))
}

/// `getctarank d, a`: the rank of the block that `a` is an address of.
pub(super) fn block_of_address(
    modifiers: &mut Modifiers<'_>,
    operands: &[Operand],
    scope: &mut Scope<'_>,
) -> Result<Op> {
    modifiers.take("shared::cluster");
    let ty = modifiers.ty()?;
    if !matches!(ty, Type::U32 | Type::U64) {
        return Err("not a type of this instruction".to_owned());
    }
    no_more(operands, 2)?;
    Ok(Op::ClusterAddress(ClusterAddress {
        op: ClusterAddressOp::Rank,
        d: scope.target(operand(operands, 0)?, Type::U32)?,
        a: scope.source(operand(operands, 1)?, ty)?,
        wide: ty == Type::U64,
    }))
}
