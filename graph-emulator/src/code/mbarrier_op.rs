//! Barriers in shared memory (`mbarrier`), the copies that arrive at them, and the barrier of a cluster.

use super::{Address, Slot, Space, Transfer};

/// An operation on an `mbarrier`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mbarrier {
    pub(crate) op: MbarrierOp,
    pub(crate) space: Space,
    pub(crate) address: Address,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum MbarrierOp {
    Init {
        count: Slot,
    },
    Invalidate,
    /// `mbarrier.expect_tx`: the phase also waits for this number of bytes.
    Expect {
        bytes: Slot,
    },
    /// `mbarrier.complete_tx`: this number of bytes has come.
    Complete {
        bytes: Slot,
    },
    Arrive(Arrive),
    /// `mbarrier.test_wait` and `mbarrier.try_wait`, both of which return at once.
    Wait {
        p: Slot,
        phase: Phase,
    },
    /// `cp.async.mbarrier.arrive`: an arrival after the copies of the thread, which are over. Unless it is
    /// `.noinc`, the phase waits for it in addition.
    Copied {
        adds: bool,
    },
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrive {
    /// The register for the state, or `DISCARD`.
    pub(crate) state: Slot,
    /// The number of arrivals.
    pub(crate) count: Slot,
    /// The number of bytes to expect first, or `DISCARD`.
    pub(crate) expects: Slot,
    /// Whether the arrivals leave later phases too.
    pub(crate) drops: bool,
    /// Whether the arrivals must not end the phase.
    pub(crate) incomplete: bool,
}

/// The phase that a thread waits for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Phase {
    /// The phase in which `arrive` returned this state.
    State(Slot),
    /// The phase of this parity.
    Parity(Slot),
}

/// `st.async`, which is carried out at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AsyncStore {
    pub(crate) store: Transfer,
    /// The operation that tells the `mbarrier` of the bytes.
    pub(crate) barrier: Mbarrier,
}

/// `cp.async.bulk`, which is carried out at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BulkCopy {
    /// The spaces, `Shared` or `Global`.
    pub(crate) spaces: (Space, Space),
    pub(crate) to: Address,
    pub(crate) from: Address,
    /// The number of bytes.
    pub(crate) bytes: Slot,
    /// The `mbarrier` in shared memory that is told of the bytes.
    pub(crate) barrier: Option<Address>,
}

/// `barrier.cluster.arrive` and `barrier.cluster.wait`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClusterBarrier {
    Arrive,
    Wait,
}

/// An instruction about an address of shared memory of a block of the cluster, or a generic address of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClusterAddress {
    pub(crate) op: ClusterAddressOp,
    pub(crate) d: Slot,
    pub(crate) a: Slot,
    /// Whether the address has 64 bits.
    pub(crate) wide: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum ClusterAddressOp {
    /// `mapa`: the same address in the block of this rank.
    Map { rank: Slot },
    /// `getctarank`: the rank of its block, in 32 bits.
    Rank,
}
