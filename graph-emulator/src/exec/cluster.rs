//! `barrier.cluster`, in a cluster of one block: threads arrive, and wait later.

use super::{Environment, Flow};
use crate::code::ClusterBarrier;
use crate::fault::{FaultKind, LaneFault};
use crate::state::{Warp, first};

/// The barrier of a cluster. Its vectors have the lanes of each warp.
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

    /// Ends the phase if all threads that have not exited have arrived, and releases those that wait.
    pub(crate) fn release(&mut self, warps: &mut [Warp]) {
        if self.arrived.iter().all(|&arrived| arrived == 0) {
            return;
        }
        let all = warps
            .iter()
            .zip(&self.arrived)
            .all(|(warp, &arrived)| warp.live() & !arrived == 0);
        if !all {
            return;
        }
        for (index, warp) in warps.iter_mut().enumerate() {
            let (arrived, parked) = (self.arrived[index], self.parked[index]);
            warp.unpark(parked);
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
                self.park(waits);
                Ok(Flow::Split)
            }
        }
    }
}
