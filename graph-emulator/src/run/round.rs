//! Running a block to its end: in lockstep while all its threads are together, otherwise each warp in its turn.

use super::block::{Block, fault};
use super::lockstep::Then;
use super::warp::MAX_TURN;
use crate::fault::{Fault, FaultKind};

/// The state of a block after each of its warps had a turn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Round {
    Goes,
    Ended,
    /// No thread could go on: all wait.
    Stuck,
}

impl Block<'_> {
    /// Runs the block at `ctaid` to its end.
    pub(super) fn run(&mut self, ctaid: [u32; 3]) -> Result<(), Box<Fault>> {
        self.begin(ctaid);
        while self.goes_on()? {}
        Ok(())
    }

    /// Gives each warp a turn. Returns whether the block goes on; one in which no thread can is at fault.
    pub(super) fn goes_on(&mut self) -> Result<bool, Box<Fault>> {
        match self.round()? {
            Round::Goes => Ok(true),
            Round::Ended => Ok(false),
            Round::Stuck => Err(self.deadlock()),
        }
    }

    /// Gives each warp a turn.
    pub(super) fn round(&mut self) -> Result<Round, Box<Fault>> {
        if self.context.is_late() {
            return Err(self.late());
        }
        let before = self.steps;
        while let Some(pc) = self.in_step() {
            match self.run_in_lockstep(pc)? {
                // Threads that part and meet again without end may be waiting for another block.
                Then::Again if self.steps - before >= self.share() => return Ok(Round::Goes),
                Then::Again => {}
                Then::Later => return Ok(Round::Goes),
                Then::Apart => break,
            }
        }
        for index in 0..self.warps.len() {
            if self.awake && self.warps[index].runnable() {
                self.steps += self.turn(index, self.steps)?;
                self.release();
            }
        }
        Ok(match self.barriers.live() {
            0 => Round::Ended,
            _ if self.steps == before => Round::Stuck,
            _ => Round::Goes,
        })
    }

    /// The program counter of all threads, if they are together and all warps are complete.
    fn in_step(&self) -> Option<u32> {
        if self.runs_apart() {
            return None;
        }
        if !self.awake {
            return Some(self.context.function().start);
        }
        let pc = self.warps[0].in_step()?;
        let others = self.warps[1..].iter().all(|warp| warp.in_step() == Some(pc));
        others.then_some(pc)
    }

    /// Gives a warp its turn; returns the number of instructions that it executed.
    fn turn(&mut self, index: usize, steps: u64) -> Result<u64, Box<Fault>> {
        let limit = self.context.step_limit();
        let result = self.lend(index, |warp, env| warp.run(env, MAX_TURN.min(limit - steps)));
        let done = result.map_err(|(pc, problem)| self.lane_fault(index, pc, problem))?;
        let warp = &self.warps[index];
        if steps + done >= limit && warp.runnable() {
            let (lane, pc) = warp.first_live();
            let kind = FaultKind::StepLimit(limit);
            return Err(fault(self.context, self.ctaid, warp.thread(lane), pc, kind));
        }
        Ok(done)
    }

    /// The fault of a block that runs beyond the deadline, at the instruction that is next.
    #[cold]
    fn late(&self) -> Box<Fault> {
        let live = self.warps.iter().find(|warp| self.awake && warp.live() != 0);
        let (thread, pc) = live.map_or(([0; 3], self.context.function().start), |warp| {
            let (lane, pc) = warp.first_live();
            (warp.thread(lane), pc)
        });
        fault(self.context, self.ctaid, thread, pc, FaultKind::Late)
    }

    /// The fault of a block in which no thread can go on. Its message says at which barriers threads wait, and how many
    /// threads wait for others of their warp.
    pub(super) fn deadlock(&self) -> Box<Fault> {
        let stuck = self.warps.iter().find(|warp| warp.live() != 0);
        let (thread, pc) = stuck.map_or(([0; 3], 0), |warp| {
            let (lane, pc) = warp.first_live();
            (
                warp.thread(lane),
                if warp.parked >> lane & 1 != 0 { pc - 1 } else { pc },
            )
        });
        let waiting: u32 = self
            .warps
            .iter()
            .map(|warp| (warp.waiting & warp.live()).count_ones())
            .sum();
        let mut message = self.barriers.describe();
        if waiting != 0 {
            let separator = if message.is_empty() { "" } else { "; " };
            message += &format!("{separator}{waiting} threads wait for others of their warp");
        }
        fault(
            self.context,
            self.ctaid,
            thread,
            pc,
            FaultKind::Deadlock(message.into()),
        )
    }
}
