//! `bar` and `barrier`: the barriers of a block, the threads that have arrived at them, and their release.

use super::cluster::Cluster;
use super::{Environment, Flow};
use crate::code::{Barrier, BarrierOp, BarrierReduction, Code, DISCARD, Op, Wait};
use crate::fault::{FaultKind, LaneFault};
use crate::state::{LANES, Registers, Warp, all_if, first, lanes, lanes_where};

/// The sixteen barriers of a block, and the number of its threads that have not exited.
pub(crate) struct Barriers {
    slots: [State; 16],
    /// The barriers at which threads have arrived, as a mask.
    open: u32,
    live: u32,
    /// The number of times that each has opened.
    generations: [u32; 16],
    pub(crate) cluster: Cluster,
}

#[derive(Clone, Default)]
struct State {
    /// The lanes of each warp that have arrived, and those of them that wait.
    arrived: Vec<u32>,
    parked: Vec<u32>,
    /// The program counter at which the lanes of each warp arrived.
    pcs: Vec<u32>,
    count: u32,
    /// The number of threads that take part; if `None`, all that have not exited.
    expected: Option<u32>,
    /// The number of threads whose predicate holds, and of threads that have a predicate.
    votes: u32,
    voters: u32,
}

impl Barriers {
    pub(crate) fn new(warps: usize) -> Barriers {
        let state = State {
            arrived: vec![0; warps],
            parked: vec![0; warps],
            pcs: vec![0; warps],
            ..State::default()
        };
        Barriers {
            slots: std::array::from_fn(|_| state.clone()),
            open: 0,
            live: 0,
            generations: [0; 16],
            cluster: Cluster::new(warps),
        }
    }

    /// Begins a block.
    pub(crate) fn reset(&mut self, threads: u32) {
        for index in lanes(self.open) {
            self.slots[index].clear();
        }
        self.open = 0;
        self.live = threads;
        self.generations = [0; 16];
        self.cluster.reset();
    }

    /// The number of times that each barrier has opened in this block, and then that of the cluster.
    pub(crate) fn generations(&self) -> [u32; 17] {
        let mut all = [self.cluster.generation; 17];
        all[..16].copy_from_slice(&self.generations);
        all
    }

    /// Notes that threads have exited, so that no barrier waits for them.
    pub(crate) fn exit(&mut self, threads: u32) {
        self.live -= threads;
    }

    pub(crate) fn live(&self) -> u32 {
        self.live
    }

    /// Whether no thread has arrived at any barrier.
    pub(crate) fn idle(&self) -> bool {
        self.open == 0
    }

    /// Releases the threads whose barrier is complete; but for the barrier of a cluster of several blocks, unless the
    /// block is `alone` in its cluster.
    pub(crate) fn release(&mut self, registers: &mut Registers, warps: &mut [Warp], code: &Code, alone: bool) {
        if alone && self.cluster.has_begun() && self.cluster.is_complete(warps) {
            self.cluster.open(warps);
        }
        for index in lanes(self.open) {
            if self.slots[index].complete(self.live, warps) {
                self.slots[index].open(registers, warps, code);
                self.open &= !(1 << index);
                self.generations[index] += 1;
            }
        }
    }

    /// The barriers at which threads wait, in words.
    pub(crate) fn describe(&self) -> String {
        let waits = lanes(self.open).map(|index| {
            let slot = &self.slots[index];
            let expected = slot.expected.unwrap_or(self.live);
            format!(
                "barrier {index} waits for {expected} threads, and {} have arrived",
                slot.count
            )
        });
        let cluster = Some(self.cluster.describe()).filter(|text| !text.is_empty());
        waits.chain(cluster).collect::<Vec<_>>().join("; ")
    }
}

impl State {
    fn clear(&mut self) {
        self.arrived.fill(0);
        self.parked.fill(0);
        (self.count, self.votes, self.voters, self.expected) = (0, 0, 0, None);
    }

    fn complete(&self, live: u32, warps: &[Warp]) -> bool {
        let Some(expected) = self.expected else {
            return self.count >= live;
        };
        // A warp counts in full if all its live lanes have arrived.
        let warp_count = |(warp, &arrived): (&Warp, &u32)| match arrived {
            0 => 0,
            _ if warp.live() & !arrived == 0 => LANES as u32,
            _ => arrived.count_ones(),
        };
        warps.iter().zip(&self.arrived).map(warp_count).sum::<u32>() >= expected
    }

    fn open(&mut self, registers: &mut Registers, warps: &mut [Warp], code: &Code) {
        for (warp, &parked) in warps.iter_mut().zip(&self.parked).filter(|&(_, &parked)| parked != 0) {
            warp.parked &= !parked;
            if self.voters != 0 {
                registers.exchange(&mut warp.registers);
                self.deliver(warp, parked, code);
                registers.exchange(&mut warp.registers);
            }
        }
        self.clear();
    }

    /// Writes the result of `bar.red` in the lanes that waited for it.
    fn deliver(&self, warp: &mut Warp, parked: u32, code: &Code) {
        for lane in lanes(parked) {
            let (pc, frame) = warp.position(lane);
            warp.registers.frame = frame;
            let Some(Op::Wait(Wait::Barrier(op))) = code.instructions.get(pc as usize - 1).map(|at| &at.op) else {
                continue;
            };
            let BarrierOp::Reduce { op, d, .. } = op.op else {
                continue;
            };
            let registers = &mut warp.registers;
            match op {
                BarrierReduction::Popc => registers.set(d, 1 << lane, [self.votes; LANES]),
                BarrierReduction::And => registers.set_predicate(d, 1 << lane, all_if(self.votes == self.voters)),
                BarrierReduction::Or => registers.set_predicate(d, 1 << lane, all_if(self.votes != 0)),
            }
        }
    }
}

impl Warp {
    /// Makes lanes arrive at a barrier.
    pub(crate) fn barrier(
        &mut self,
        op: &Barrier,
        mask: u32,
        pc: u32,
        env: &mut Environment<'_>,
    ) -> Result<Flow, LaneFault> {
        let lane = first(mask);
        let ids = *self.registers.get32(op.id);
        let id = ids[lane];
        let same = lanes_where(mask, |other| ids[other] == id);
        let expected = (op.count != DISCARD).then(|| self.registers.get32(op.count)[lane]);
        let warp = self.index();
        let Some(slot) = env.barriers.slots.get_mut(id as usize) else {
            let message = format!("there is no barrier {id}; a block has barriers 0 to 15");
            return Err(LaneFault::new(lane, FaultKind::DivergentBarrier(message.into())));
        };
        let together = slot.check(warp, op, pc, expected);
        let placed = if env.context.options.check_divergence {
            slot.check_place(op, pc, env.context.code)
        } else {
            Ok(())
        };
        together.and(placed).map_err(|message| {
            let message = format!("at barrier {id}, {message}");
            LaneFault::new(lane, FaultKind::DivergentBarrier(message.into()))
        })?;
        env.barriers.open |= 1 << id;
        slot.expected = expected;
        slot.pcs[warp] = pc;
        slot.count += (same & !slot.arrived[warp]).count_ones();
        slot.arrived[warp] |= same;
        slot.vote(&self.registers, op, same);
        self.set_pcs(same, pc + 1);
        self.set_pcs(mask & !same, pc);
        if op.op != BarrierOp::Arrive {
            slot.parked[warp] |= same;
            self.parked |= same;
        }
        Ok(Flow::Split)
    }
}

impl State {
    /// Fails if the threads that meet here do not agree about the barrier.
    fn check(&self, warp: usize, op: &Barrier, pc: u32, expected: Option<u32>) -> Result<(), String> {
        if op.aligned && self.parked[warp] != 0 && self.pcs[warp] != pc {
            return Err("threads of one warp wait at different instructions".to_owned());
        }
        if self.count != 0 && self.expected != expected {
            return Err("threads expect different numbers of threads".to_owned());
        }
        match expected {
            Some(count) if count == 0 || !count.is_multiple_of(LANES as u32) => {
                Err(format!("{count} threads are no multiple of the warp size"))
            }
            _ => Ok(()),
        }
    }

    /// Fails if threads of other warps have come to this barrier of all threads at another instruction.
    fn check_place(&self, op: &Barrier, pc: u32, code: &Code) -> Result<(), String> {
        let mut arrived = self.arrived.iter().zip(&self.pcs).filter(|&(&lanes, _)| lanes != 0);
        match arrived.find(|&(_, &other)| other != pc) {
            Some((_, &other)) if op.count == DISCARD => {
                let line = code.lines.get(other as usize).map_or(0, |line| line.line);
                Err(format!(
                    "threads of the block wait at different instructions, here and in PTX line {line}"
                ))
            }
            _ => Ok(()),
        }
    }

    fn vote(&mut self, registers: &Registers, op: &Barrier, mask: u32) {
        if let BarrierOp::Reduce { p, .. } = op.op {
            self.voters += mask.count_ones();
            self.votes += (registers.guard(p) & mask).count_ones();
        }
    }
}
