//! Barriers, and operations among the lanes of a warp.

use super::{AtomicOp, Guard, NumberType, Slot};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BarrierOp {
    Sync,
    Arrive,
    /// `bar.red`: combines a predicate of all threads.
    Reduce {
        op: BarrierReduction,
        d: Slot,
        p: Guard,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BarrierReduction {
    Popc,
    And,
    Or,
}

/// `bar`, `barrier`
#[derive(Clone, Copy, Debug)]
pub(crate) struct Barrier {
    pub(crate) op: BarrierOp,
    pub(crate) aligned: bool,
    pub(crate) id: Slot,
    /// The number of threads that take part, or `DISCARD` for all.
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
    pub(crate) p: Guard,
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

/// `redux.sync`
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reduce {
    pub(crate) op: AtomicOp,
    pub(crate) ty: NumberType,
    pub(crate) d: Slot,
    pub(crate) a: Slot,
    pub(crate) mask: Slot,
}

/// An operation among the lanes of a warp: each lane waits for the lanes that it names as members.
#[derive(Clone, Debug)]
pub(crate) enum Collective {
    /// `bar.warp.sync`
    Barrier {
        members: Slot,
    },
    Shuffle(Box<Shuffle>),
    Vote(Vote),
    Match(Match),
    Reduce(Reduce),
    /// `elect.sync d|p`
    Elect {
        d: Slot,
        p: Slot,
        members: Slot,
    },
}

impl Collective {
    /// The register that names the members.
    pub(crate) fn members(&self) -> Slot {
        match self {
            Collective::Barrier { members } | Collective::Elect { members, .. } => *members,
            Collective::Shuffle(op) => op.mask,
            Collective::Vote(op) => op.mask,
            Collective::Match(op) => op.mask,
            Collective::Reduce(op) => op.mask,
        }
    }
}
