//! Clusters: the shared memory of the other blocks, and `barrier.cluster`, at which threads arrive, and wait later.

use super::{Environment, Flow};
use crate::code::{ClusterAddress, ClusterAddressOp, ClusterBarrier, block_of, in_block, window};
use crate::fault::{FaultKind, LaneFault};
use crate::state::{Registers, Warp, each, first};

/// The shared memory of all blocks of a cluster, while one of them has its turn.
pub(crate) struct Peers {
    /// The rank of the block that has its turn.
    pub(crate) rank: usize,
    /// The memory of each block, by rank; empty for the one that has its turn, which has its own.
    pub(crate) memories: Vec<PeerMemory>,
}

/// The shared memory of a block of a cluster.
pub(crate) struct PeerMemory {
    pub(crate) bytes: Vec<u8>,
    /// Whether the block has come to its end, so that its memory must not be accessed any more.
    pub(crate) ended: bool,
}

/// The block's own shared memory in messages.
const OWN: &str = "shared memory";

impl Environment<'_> {
    /// The rank of the block in its cluster.
    fn rank(&self) -> usize {
        self.peers.as_ref().map_or(0, |peers| peers.rank)
    }

    /// The shared memory of the block of this rank, or of this block, and its name in messages. Memory that must not be
    /// accessed has no bytes.
    #[inline(always)]
    pub(crate) fn shared_of(&self, block: Option<usize>) -> (&[u8], &'static str) {
        match block.filter(|&block| block != self.rank()) {
            None => (self.shared, OWN),
            Some(block) => match self.peers.as_ref().and_then(|peers| peers.memories.get(block)) {
                Some(peer) if !peer.ended => (&peer.bytes, "shared memory of another block of the cluster"),
                Some(_) => (&[], "shared memory of a block of the cluster that has come to its end"),
                None => (&[], "shared memory of a block that the cluster does not have"),
            },
        }
    }

    /// The same memory, to write.
    #[inline(always)]
    pub(crate) fn shared_of_mut(&mut self, block: Option<usize>) -> (&mut [u8], &'static str) {
        match block.filter(|&block| block != self.rank()) {
            None => (self.shared, OWN),
            Some(block) => {
                let (_, name) = self.shared_of(Some(block));
                let peers = self.peers.as_mut();
                let peer = peers.and_then(|peers| peers.memories.get_mut(block).filter(|peer| !peer.ended));
                (peer.map_or(&mut [], |peer| &mut peer.bytes), name)
            }
        }
    }
}

/// `mapa` and `getctarank`
pub(crate) fn address(registers: &mut Registers, env: &Environment<'_>, mask: u32, op: &ClusterAddress) {
    let a = registers.read(op.wide, op.a);
    match op.op {
        ClusterAddressOp::Map { rank } => {
            let ranks = *registers.get32(rank);
            registers.write(op.wide, op.d, mask, each(|lane| in_block(a[lane], ranks[lane])));
        }
        ClusterAddressOp::Rank => {
            let own = env.rank();
            let rank = |address: u64| {
                let offset = if op.wide { address - window(address).1 } else { address };
                block_of(offset).0.unwrap_or(own) as u32
            };
            registers.set(op.d, mask, a.map(rank));
        }
    }
}

/// The barrier of a cluster, as one of its blocks sees it. The vectors have the lanes of each warp.
pub(crate) struct Cluster {
    /// The lanes that have arrived in the current phase.
    arrived: Vec<u32>,
    /// The lanes of these that wait.
    parked: Vec<u32>,
    /// The lanes that have arrived in the phase before, and have not waited for its end yet.
    free: Vec<u32>,
    /// The number of phases that are over.
    pub(crate) generation: u32,
}

impl Cluster {
    pub(crate) fn new(warps: usize) -> Cluster {
        Cluster {
            arrived: vec![0; warps],
            parked: vec![0; warps],
            free: vec![0; warps],
            generation: 0,
        }
    }

    /// Begins a block.
    pub(crate) fn reset(&mut self) {
        self.arrived.fill(0);
        self.parked.fill(0);
        self.free.fill(0);
        self.generation = 0;
    }

    /// Whether a thread has arrived in the current phase.
    pub(crate) fn has_begun(&self) -> bool {
        self.arrived.iter().any(|&arrived| arrived != 0)
    }

    /// Whether all threads of the block that have not exited have arrived in the current phase.
    pub(crate) fn is_complete(&self, warps: &[Warp]) -> bool {
        let mut warps = warps.iter().zip(&self.arrived);
        warps.all(|(warp, &arrived)| warp.live() & !arrived == 0)
    }

    /// Ends the phase, and releases the threads that wait.
    pub(crate) fn open(&mut self, warps: &mut [Warp]) {
        for (index, warp) in warps.iter_mut().enumerate() {
            let (arrived, parked) = (self.arrived[index], self.parked[index]);
            warp.parked &= !parked;
            self.free[index] = arrived & !parked;
        }
        self.arrived.fill(0);
        self.parked.fill(0);
        self.generation += 1;
    }

    /// The number of threads that wait, in words; empty if there are none.
    pub(crate) fn describe(&self) -> String {
        let count = |masks: &[u32]| masks.iter().map(|mask| mask.count_ones()).sum::<u32>();
        let (arrived, parked) = (count(&self.arrived), count(&self.parked));
        if parked == 0 {
            return String::new();
        }
        format!("{parked} threads wait at the barrier of the cluster, where {arrived} have arrived")
    }
}

impl Warp {
    /// Makes lanes arrive at the barrier of the cluster, or wait there.
    pub(crate) fn cluster_barrier(
        &mut self,
        op: ClusterBarrier,
        mask: u32,
        pc: u32,
        env: &mut Environment<'_>,
    ) -> Result<Flow, LaneFault> {
        let (warp, cluster) = (self.index(), &mut env.barriers.cluster);
        let (arrived, free) = (cluster.arrived[warp], cluster.free[warp]);
        let fault = |lanes: u32, message: &str| {
            let message = format!("at the barrier of the cluster, {message}");
            LaneFault::new(first(lanes), FaultKind::InvalidBarrier(message.into()))
        };
        match op {
            ClusterBarrier::Arrive => {
                let twice = mask & (arrived | free);
                if twice != 0 {
                    return Err(fault(twice, "a thread arrives that has not waited since it arrived"));
                }
                cluster.arrived[warp] |= mask;
                Ok(Flow::Next)
            }
            ClusterBarrier::Wait => {
                let never = mask & !(arrived | free);
                if never != 0 {
                    return Err(fault(never, "a thread waits that has not arrived"));
                }
                cluster.free[warp] &= !mask;
                let waits = mask & arrived;
                if waits == 0 {
                    return Ok(Flow::Next);
                }
                cluster.parked[warp] |= waits;
                self.set_pcs(mask, pc + 1);
                self.parked |= waits;
                Ok(Flow::Split)
            }
        }
    }
}
