//! A warp: which of its lanes run next, and from where.
//!
//! Lanes at one instruction of one frame form a group and run together. Of several groups the one deepest in calls, then
//! the one at the smallest program counter, goes first, so that lanes which parted meet again. A group that seems to wait
//! for others (many atomic or volatile accesses) or has run for long is set aside for the next one: thus a spin lock
//! between lanes of a warp makes progress.

mod select;

use crate::code::Instruction;
use crate::exec::barrier::Barriers;
use crate::exec::{Environment, Flow};
use crate::fault::LaneFault;
use crate::state::{Context, FULL, Frame, Warp, first};
use select::Group;

/// Instructions a warp may execute before another has its turn.
pub(crate) const SLICE: u64 = 1 << 16;
/// Accesses that may be waiting for someone, before another has its turn.
const PATIENCE: u32 = 48;

impl Warp {
    /// Compute what is the same in all blocks.
    pub(crate) fn run_prologue(&mut self, context: &Context<'_>) {
        self.fill_constants(context.function(), FULL);
        let mut barriers = Barriers::new(0);
        let mut env = Environment {
            context,
            shared: &mut [],
            barriers: &mut barriers,
            sanitizer: None,
        };
        for instruction in &context.function().prologue {
            let result = self.execute(&instruction.op, FULL, 0, &mut env);
            debug_assert!(result.is_ok(), "`decode::hoist` moves only what cannot fault");
        }
    }

    /// Execute one instruction of the kernel's own frame in all lanes, outside of a turn. True when all go on to the next
    /// one; else each lane's program counter says where it goes.
    pub(crate) fn step(
        &mut self,
        instruction: &Instruction,
        pc: u32,
        env: &mut Environment<'_>,
    ) -> Result<bool, LaneFault> {
        self.current = 0;
        self.registers.frame = Frame::default();
        self.set_pcs(FULL, pc + 1);
        let active = match instruction.guard {
            None => FULL,
            Some(guard) => self.registers.predicate(guard.predicate) ^ guard.flip,
        };
        if active == 0 {
            return Ok(true);
        }
        let flow = self.execute(&instruction.op, active, pc, env)?;
        if let Flow::Goto(target) = flow {
            self.set_pcs(active, target);
        }
        Ok(matches!(flow, Flow::Next | Flow::Spin))
    }

    /// Run until every lane waits or has exited, or the turn is over. Returns how many instructions were executed; a
    /// fault comes with its program counter.
    pub(crate) fn run(&mut self, env: &mut Environment<'_>, budget: u64) -> Result<u64, (u32, LaneFault)> {
        let mut steps = 0;
        let mut patience = PATIENCE;
        while let Some(group) = self.select(env.context.code) {
            self.enter_group(&group);
            match self.run_group(group, env, &mut steps, budget, &mut patience)? {
                Turn::Goes => {}
                Turn::Over => break,
            }
        }
        Ok(steps)
    }

    fn enter_group(&mut self, group: &Group) {
        self.current = self.frames[first(group.mask)];
        self.registers.frame = self.activations[self.current as usize].frame;
    }

    /// Run a group until it ends, splits or meets others.
    fn run_group(
        &mut self,
        Group { mask, mut pc, limit }: Group,
        env: &mut Environment<'_>,
        steps: &mut u64,
        budget: u64,
        patience: &mut u32,
    ) -> Result<Turn, (u32, LaneFault)> {
        let code = env.context.code;
        loop {
            if *steps >= budget {
                return Ok(self.set_aside(mask, pc));
            }
            *steps += 1;
            let instruction = &code.instructions[pc as usize];
            let active = match instruction.guard {
                None => mask,
                Some(guard) => mask & (self.registers.predicate(guard.predicate) ^ guard.flip),
            };
            if active != 0 {
                let flow = self
                    .execute(&instruction.op, active, pc, env)
                    .map_err(|fault| (pc, fault))?;
                match flow {
                    Flow::Next => {}
                    Flow::Spin => {
                        *patience -= 1;
                        if *patience == 0 {
                            return Ok(self.set_aside(mask, pc + 1));
                        }
                    }
                    Flow::Goto(target) if active == mask => {
                        pc = target;
                        if pc >= limit {
                            self.set_pcs(mask, pc);
                            return Ok(Turn::Goes);
                        }
                        continue;
                    }
                    Flow::Goto(target) => {
                        self.set_pcs(active, target);
                        self.set_pcs(mask & !active, pc + 1);
                        return Ok(Turn::Goes);
                    }
                    Flow::Split => {
                        self.set_pcs(mask & !active, pc + 1);
                        return Ok(Turn::Goes);
                    }
                }
            }
            pc += 1;
            if pc >= limit {
                self.set_pcs(mask, pc);
                return Ok(Turn::Goes);
            }
        }
    }

    /// End the turn of these lanes.
    fn set_aside(&mut self, mask: u32, pc: u32) -> Turn {
        self.set_pcs(mask, pc);
        self.set_aside = mask;
        Turn::Over
    }
}

/// Is it still this warp's turn?
enum Turn {
    Goes,
    Over,
}
