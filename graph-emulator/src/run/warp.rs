//! Running a warp: the order in which its lanes run.
//!
//! Lanes at one instruction of one frame form a group and run together. If there are several groups, the deepest in
//! calls goes first, then the one at the smallest program counter, so that lanes which parted meet again. A group that
//! seems to wait for others (because of many atomic or volatile accesses), or has run for long, is set aside for the
//! next one. So a spin lock between lanes of a warp makes progress.

mod select;

use crate::code::Instruction;
use crate::exec::barrier::Barriers;
use crate::exec::{Environment, Flow};
use crate::fault::LaneFault;
use crate::state::{Context, FULL, Frame, Warp, first};
use select::Group;

/// The most instructions that a warp executes before another has its turn.
pub(crate) const MAX_TURN: u64 = 1 << 16;
/// The most accesses that may be waiting for another thread before another group has its turn.
const MAX_SPINS: u32 = 48;

impl Warp {
    /// Computes the values that are the same in all blocks.
    pub(crate) fn run_prologue(&mut self, context: &Context<'_>) {
        self.fill_constants(context.function(), FULL);
        let mut barriers = Barriers::new(0);
        let mut env = Environment {
            context,
            shared: &mut [],
            peers: None,
            barriers: &mut barriers,
            sanitizer: None,
        };
        for instruction in &context.function().prologue {
            let result = self.execute(&instruction.op, FULL, 0, &mut env);
            debug_assert!(result.is_ok(), "`decode::hoist` moves only what cannot fault");
        }
    }

    /// Executes one instruction of the kernel's own frame in all lanes, outside of a turn. Returns whether all go on to
    /// the next instruction; otherwise each lane's program counter says where it goes.
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
            Some(guard) => self.registers.guard(guard),
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

    /// Runs until every lane waits or has exited, or the turn is over. Returns the number of instructions that were
    /// executed; a fault comes with its program counter.
    pub(crate) fn run(&mut self, env: &mut Environment<'_>, budget: u64) -> Result<u64, (u32, LaneFault)> {
        let mut steps = 0;
        let mut patience = MAX_SPINS;
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

    /// Runs a group until it ends, splits or meets others.
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
                Some(guard) => mask & self.registers.guard(guard),
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
                        if let Some(sanitizer) = &mut env.sanitizer {
                            sanitizer.diverges();
                        }
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

    /// Ends the turn of these lanes.
    fn set_aside(&mut self, mask: u32, pc: u32) -> Turn {
        self.set_pcs(mask, pc);
        self.set_aside = mask;
        Turn::Over
    }
}

/// Whether the turn of this warp goes on.
enum Turn {
    Goes,
    Over,
}
