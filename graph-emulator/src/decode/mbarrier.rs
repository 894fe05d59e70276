//! `mbarrier`, `cp.async.bulk`, and the instructions of clusters.

use graph_ptx::ast::Type;

use super::Result;
use super::reader::Reader;
use crate::code::{
    Arrive, BulkCopy, ClusterAddress, ClusterAddressOp, ClusterBarrier, DISCARD, LaneOp, Mbarrier, MbarrierOp,
    MemoryOp, Move, Op, Phase, Query, Space, Wait,
};

/// `mbarrier`
pub(super) fn mbarrier(reader: &mut Reader<'_, '_>) -> Result<Op> {
    if reader.take("pending_count") {
        return pending_count(reader);
    }
    let space = reader.space(&["shared", "shared::cta", "shared::cluster"]);
    reader.ignore(&["release", "acquire", "relaxed", "cta", "cluster"]);
    reader.expect("b64")?;
    // The operation, the index of the address, and the most operands.
    let (op, at, most) = if reader.take("init") {
        let count = reader.source32(1)?;
        (MbarrierOp::Init { count }, 0, 2)
    } else if reader.take("inval") {
        (MbarrierOp::Invalidate, 0, 1)
    } else if reader.has("arrive") || reader.has("arrive_drop") {
        (MbarrierOp::Arrive(arrive(reader)?), 1, 3)
    } else if reader.take("expect_tx") {
        let bytes = reader.source32(1)?;
        (MbarrierOp::Expect { bytes }, 0, 2)
    } else if reader.take("complete_tx") {
        let bytes = reader.source32(1)?;
        (MbarrierOp::Complete { bytes }, 0, 2)
    } else if reader.take("test_wait") || reader.take("try_wait") {
        let p = reader.predicate_target(0)?;
        if p == DISCARD {
            return Err("the destination is no register".to_owned());
        }
        let phase = if reader.take("parity") {
            Phase::Parity(reader.source32(2)?)
        } else {
            Phase::State(reader.source(2, Type::B64)?)
        };
        // The last operand of `try_wait` is the time to wait.
        (MbarrierOp::Wait { p, phase }, 1, 4)
    } else {
        return Err("unknown form of the instruction".to_owned());
    };
    reader.no_more(most)?;
    let (address, space) = reader.address(at, space.unwrap_or(Space::Generic))?;
    Ok(MemoryOp::Mbarrier(Box::new(Mbarrier { op, space, address })).into())
}

/// `mbarrier.arrive{.expect_tx}{.noComplete} state, [a]{, count}` and `mbarrier.arrive_drop`
fn arrive(reader: &mut Reader<'_, '_>) -> Result<Arrive> {
    let drops = reader.take("arrive_drop");
    if !drops {
        reader.expect("arrive")?;
    }
    let state = reader.target_or_none(0, Type::B64)?;
    let incomplete = reader.take("noComplete");
    let given = match reader.operands.get(2) {
        Some(_) => Some(reader.source32(2)?),
        None => None,
    };
    let one = reader.scope.constant32(1);
    let (count, expects) = match (reader.take("expect_tx"), given) {
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
fn pending_count(reader: &mut Reader<'_, '_>) -> Result<Op> {
    reader.expect("b64")?;
    reader.no_more(2)?;
    let d = [reader.target(0, Type::U32)?, DISCARD, DISCARD, DISCARD];
    let (a, wide, parts) = (reader.source(1, Type::B64)?, true, 2);
    Ok(LaneOp::Move(Move::Unpack { wide, parts, d, a }).into())
}

/// `cp.async.mbarrier.arrive`
pub(super) fn copied(reader: &mut Reader<'_, '_>) -> Result<Op> {
    reader.expect("async")?;
    reader.expect("mbarrier")?;
    reader.expect("arrive")?;
    reader.expect("b64")?;
    reader.no_more(1)?;
    let adds = !reader.take("noinc");
    let space = reader.space(&["shared", "shared::cta"]).unwrap_or(Space::Generic);
    let (address, space) = reader.address(0, space)?;
    let op = MbarrierOp::Copied { adds };
    Ok(MemoryOp::Mbarrier(Box::new(Mbarrier { op, space, address })).into())
}

/// `cp.async.bulk`
pub(super) fn bulk(reader: &mut Reader<'_, '_>) -> Result<Op> {
    reader.expect("async")?;
    reader.expect("bulk")?;
    // Copies are over at once, so that there is nothing to wait for.
    if reader.take("commit_group") || reader.take("wait_group") {
        reader.take("read");
        return Ok(Op::Nop);
    }
    if reader.take("prefetch") {
        reader.ignore_all();
        return Ok(Op::Nop);
    }
    let spaces = [
        ("global", Space::Global),
        ("shared::cta", Space::Shared),
        ("shared::cluster", Space::Shared),
    ];
    let mut space = || reader.first_of(&spaces, "the space is missing");
    let (to_space, from_space) = (space()?, space()?);
    let policy = usize::from(reader.take("L2::cache_hint"));
    let arrives = to_space == Space::Shared;
    reader.expect(if arrives {
        "mbarrier::complete_tx::bytes"
    } else {
        "bulk_group"
    })?;
    reader.no_more(3 + usize::from(arrives) + policy)?;
    let (to, to_space) = reader.address(0, to_space)?;
    let (from, from_space) = reader.address(1, from_space)?;
    let bytes = reader.source32(2)?;
    let barrier = arrives.then(|| reader.address(3, Space::Shared)).transpose()?;
    Ok(MemoryOp::BulkCopy(Box::new(BulkCopy {
        spaces: (to_space, from_space),
        to,
        from,
        bytes,
        barrier: barrier.map(|(barrier, _)| barrier),
    }))
    .into())
}

/// `barrier.cluster.arrive` and `barrier.cluster.wait`
pub(super) fn cluster_barrier(reader: &mut Reader<'_, '_>) -> Result<Op> {
    reader.expect("cluster")?;
    reader.ignore(&["aligned", "release", "acquire", "relaxed"]);
    reader.no_more(0)?;
    if reader.take("wait") {
        return Ok(Wait::Cluster(ClusterBarrier::Wait).into());
    }
    reader.expect("arrive")?;
    Ok(Wait::Cluster(ClusterBarrier::Arrive).into())
}

/// `mapa d, a, rank`: the address `a` in the block of this rank. `getctarank d, a`: the rank of the block that has the
/// address `a`.
pub(super) fn cluster_address(reader: &mut Reader<'_, '_>) -> Result<Op> {
    reader.take("shared::cluster");
    let ty = reader.ty()?;
    if !matches!(ty, Type::U32 | Type::U64) {
        return Err("not a type of this instruction".to_owned());
    }
    let (op, result) = if reader.opcode == "mapa" {
        reader.no_more(3)?;
        let rank = reader.source32(2)?;
        (ClusterAddressOp::Map { rank }, ty)
    } else {
        reader.no_more(2)?;
        (ClusterAddressOp::Rank, Type::U32)
    };
    let (d, a, wide) = (reader.target(0, result)?, reader.source(1, ty)?, ty == Type::U64);
    Ok(Query::ClusterAddress(ClusterAddress { op, d, a, wide }).into())
}
