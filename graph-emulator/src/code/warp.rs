//! Barriers, and operations among the lanes of a warp.

use super::{Op, Slot};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BarrierOp {
    Sync,
    Arrive,
    Popc { d: Slot, p: Slot, flip: u32 },
    And { d: Slot, p: Slot, flip: u32 },
    Or { d: Slot, p: Slot, flip: u32 },
}

/// `bar`, `barrier`
#[derive(Clone, Copy, Debug)]
pub(crate) struct Barrier {
    pub(crate) op: BarrierOp,
    pub(crate) aligned: bool,
    pub(crate) id: Slot,
    /// Threads that take part; `DISCARD` for all.
    pub(crate) count: Slot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShuffleMode {
    Up,
    Down,
    Butterfly,
    Index,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Shuffle {
    pub(crate) mode: ShuffleMode,
    pub(crate) d: Slot,
    pub(crate) p: Slot,
    pub(crate) a: Slot,
    pub(crate) b: Slot,
    pub(crate) c: Slot,
    pub(crate) mask: Slot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VoteOp {
    All,
    Any,
    Uniform,
    Ballot,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Vote {
    pub(crate) op: VoteOp,
    pub(crate) d: Slot,
    pub(crate) p: Slot,
    pub(crate) flip: u32,
    pub(crate) mask: Slot,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Match {
    pub(crate) all: bool,
    pub(crate) wide: bool,
    pub(crate) d: Slot,
    pub(crate) p: Slot,
    pub(crate) a: Slot,
    pub(crate) mask: Slot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReduceOp {
    Add,
    MinU,
    MaxU,
    MinS,
    MaxS,
    And,
    Or,
    Xor,
}

/// `redux.sync`
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reduce {
    pub(crate) op: ReduceOp,
    pub(crate) d: Slot,
    pub(crate) a: Slot,
    pub(crate) mask: Slot,
}

impl Op {
    /// The register with the lanes that an operation waits for.
    pub(crate) fn member_mask(&self) -> Option<Slot> {
        match self {
            Op::Shuffle(op) => Some(op.mask),
            Op::Vote(op) => Some(op.mask),
            Op::Match(op) => Some(op.mask),
            Op::Reduce(op) => Some(op.mask),
            Op::Matrix(op) => Some(op.mask),
            Op::WarpBarrier { mask } | Op::Elect { mask, .. } => Some(*mask),
            _ => None,
        }
    }
}
