//! Selection of the lanes of a warp that run next.

use crate::code::{Code, Collective, Op, Successors};
use crate::state::{LANES, Warp, first, lanes, lanes_where};

/// Lanes that run together.
pub(super) struct Group {
    pub(super) mask: u32,
    pub(super) pc: u32,
    /// The lowest program counter of other lanes in the same frame.
    pub(super) limit: u32,
}

impl Warp {
    /// Chooses the lanes to run next.
    pub(super) fn select(&mut self, code: &Code) -> Option<Group> {
        let runnable = self.live() & !self.parked & !self.waiting;
        if runnable == 0 {
            return self.select_waiting(code);
        }
        let others = runnable & !self.set_aside;
        if std::mem::take(&mut self.set_aside) != 0 && others != 0 {
            return Some(self.take_turns(runnable, others));
        }
        let lane = first(runnable);
        let together = self.together(lane, runnable);
        if together == runnable {
            return Some(Group {
                mask: runnable,
                pc: self.pcs[lane],
                limit: u32::MAX,
            });
        }
        let depth = |lane: usize| self.activations[self.frames[lane] as usize].depth;
        let key = |&lane: &usize| (u32::MAX - depth(lane), self.pcs[lane], self.frames[lane]);
        let lane = lanes(runnable).min_by_key(key)?;
        let mask = self.together(lane, runnable);
        let others = lanes(runnable & !mask).filter(|&other| self.frames[other] == self.frames[lane]);
        let limit = others.map(|other| self.pcs[other]).min().unwrap_or(u32::MAX);
        Some(Group {
            mask,
            pc: self.pcs[lane],
            limit,
        })
    }

    /// A group other than the one that was set aside. Groups take turns, and do not stop to meet others.
    fn take_turns(&mut self, runnable: u32, others: u32) -> Group {
        let ahead = others & u32::MAX.checked_shl(self.turn).unwrap_or(0);
        let lane = if ahead != 0 { ahead } else { others }.trailing_zeros() as usize % LANES;
        self.turn = (lane as u32 + 1) % LANES as u32;
        Group {
            mask: self.together(lane, runnable),
            pc: self.pcs[lane],
            limit: u32::MAX,
        }
    }

    /// The lanes of `among` at the same instruction of the same frame as a lane.
    fn together(&self, lane: usize, among: u32) -> u32 {
        let (pc, frame) = (self.pcs[lane], self.frames[lane]);
        let mut same = 0;
        for other in 0..LANES {
            same |= u32::from(self.pcs[other] == pc && self.frames[other] == frame) << other;
        }
        same & among
    }

    /// Finds lanes whose partners have all arrived, if all lanes wait for others of the warp.
    fn select_waiting(&mut self, code: &Code) -> Option<Group> {
        let waiting = self.waiting & self.live() & !self.parked;
        let mut left = waiting;
        while left != 0 {
            let lane = first(left);
            let mask = self.together(lane, waiting);
            let op = &code.instructions[self.pcs[lane] as usize].op;
            let members = self.members(lane, op);
            if self.ready(&members, mask) != 0 {
                self.waiting &= !mask;
                return Some(Group {
                    mask,
                    pc: self.pcs[lane],
                    limit: u32::MAX,
                });
            }
            if is_warp_barrier(op) && self.pass_warp_barriers(members[lane], waiting, code) {
                return self.select(code);
            }
            left &= !mask;
        }
        None
    }

    /// The member masks of a waiting lane's operation.
    fn members(&mut self, lane: usize, op: &Op) -> [u32; LANES] {
        self.registers.frame = self.activations[self.frames[lane] as usize].frame;
        match op.successors() {
            Successors::Together(members) => *self.registers.get32(members),
            Successors::Next | Successors::Branch(_) | Successors::End => [0; LANES],
        }
    }

    /// Lets lanes pass `bar.warp.sync` that wait for each other at different instructions, in branches of the program.
    fn pass_warp_barriers(&mut self, members: u32, waiting: u32, code: &Code) -> bool {
        let wanted = members & self.live();
        let at_barrier = |lane: usize| {
            let op = code.instructions.get(self.pcs[lane] as usize).map(|at| &at.op);
            op.is_some_and(is_warp_barrier)
        };
        let arrived = lanes_where(wanted & waiting, at_barrier);
        if wanted == 0 || arrived != wanted {
            return false;
        }
        for lane in lanes(arrived) {
            self.pcs[lane] += 1;
        }
        self.waiting &= !arrived;
        true
    }
}

fn is_warp_barrier(op: &Op) -> bool {
    matches!(op, Op::Collective(Collective::Barrier { .. }))
}
