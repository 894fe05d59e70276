//! Lockstep: as long as all threads of a block are at one instruction, it is dispatched once and applied to all warps,
//! and no thread waits at barriers. When threads part, each warp goes on by itself, until a barrier brings all
//! together.

use super::block::Block;
use crate::code::{Barrier, BarrierOp, Collective, DISCARD, File, Guard, Jump, MemoryOp, Op, Role, Wait};
use crate::exec::barrier::Barriers;
use crate::exec::{Environment, affine, collective, words};
use crate::fault::Fault;
use crate::state::affine::Affine;
use crate::state::{FULL, Registers};

/// The most instructions of a block that others may wait for, all warps together, before another block has its turn.
const MAX_SHARE: u64 = 1 << 12;
/// The most instructions of a block, all warps together, before it looks at the clock, if the launch has a deadline.
const MAX_UNTIMED: u64 = 1 << 20;

/// The way in which a block goes on after its threads were in lockstep.
pub(super) enum Then {
    /// The threads may have met again.
    Again,
    /// Each warp goes on by itself, or the block has come to its end.
    Apart,
    /// The threads are still together, but another block has its turn.
    Later,
}

/// The progress of a block after an instruction.
enum Progress {
    /// All threads go to the next instruction.
    Next,
    Goto(u32),
    /// The block has come to its end.
    Ended,
    /// Each warp goes where its own program counters say.
    Parted,
    /// Each warp must execute the instruction by itself, and go on from there.
    Part,
}

impl Block<'_> {
    /// The most instructions, all warps together, before the turn of the block is over.
    pub(super) fn share(&self) -> u64 {
        if self.context.takes_turns() {
            MAX_SHARE
        } else if self.context.options.deadline.is_some() {
            MAX_UNTIMED
        } else {
            u64::MAX
        }
    }

    /// Runs all warps in lockstep from the instruction that they are all at, until they part, or until the turn of
    /// the block is over.
    pub(super) fn run_in_lockstep(&mut self, mut pc: u32) -> Result<Then, Box<Fault>> {
        let code = self.context.code;
        let warps = self.warps.len() as u64;
        let limit = self.context.step_limit();
        let end = limit.min(self.steps.saturating_add(self.share()));
        let mut then = Then::Later;
        while self.steps.saturating_add(warps) <= end {
            let instruction = &code.instructions[pc as usize];
            let progress = match instruction.guard.map(|guard| agree(&self.registers, guard)) {
                Some(Some(false)) => Progress::Next,
                Some(None) if steers(&instruction.op) => Progress::Part,
                Some(None) => self.one_by_one(pc)?,
                // Values that are affine are not written lane by lane.
                None | Some(Some(true)) if affine::execute(&mut self.registers, &instruction.op) => Progress::Next,
                None | Some(Some(true)) => self.step(&instruction.op, pc)?,
            };
            match progress {
                Progress::Next => pc += 1,
                Progress::Goto(target) => pc = target,
                Progress::Part => {
                    then = Then::Apart;
                    break;
                }
                Progress::Ended => {
                    self.steps += warps;
                    return Ok(Then::Apart);
                }
                Progress::Parted => {
                    self.steps += warps;
                    self.materialize_all();
                    return Ok(Then::Again);
                }
            }
            self.steps += warps;
        }
        if self.steps.saturating_add(warps) > limit {
            then = Then::Apart;
        }
        self.materialize_all();
        self.wake();
        for warp in &mut self.warps {
            warp.set_pcs(FULL, pc);
        }
        Ok(then)
    }

    /// Executes an instruction in all threads.
    fn step(&mut self, op: &Op, pc: u32) -> Result<Progress, Box<Fault>> {
        let mut env = Environment {
            context: self.context,
            shared: &mut self.shared,
            peers: self.peers.as_mut(),
            barriers: &mut self.barriers,
            sanitizer: None,
        };
        match op {
            Op::Memory(MemoryOp::Load(op))
                if words::is_simple(op, FULL) && words::load(&mut self.registers, &env, op) =>
            {
                return Ok(Progress::Next);
            }
            Op::Memory(MemoryOp::Store(op)) if words::is_simple(op, FULL) => {
                self.registers.materialize(File::R32, op.values[0]);
                if words::store(&mut self.registers, &mut env, op) {
                    return Ok(Progress::Next);
                }
            }
            Op::Memory(MemoryOp::Load(_) | MemoryOp::Store(_)) => {}
            _ => self.materialize(pc, |role| role == Role::Source),
        }
        match op {
            Op::Nop => {}
            Op::Lanes(op) if op.is_of_one_warp() => self.registers.each_warp(|registers| op.execute(registers, FULL)),
            Op::Lanes(op) => op.execute(&mut self.registers, FULL),
            Op::Jump(Jump::Branch(target)) => return Ok(Progress::Goto(*target)),
            Op::Wait(Wait::Barrier(op)) if passes(op, &self.registers, &self.barriers) => {}
            Op::Jump(Jump::Return | Jump::Exit) => {
                self.barriers.exit(self.threads);
                self.awake = false;
                return Ok(Progress::Ended);
            }
            Op::Collective(op) if among_all(&mut self.registers, op) => {
                self.registers
                    .each_warp(|registers| collective::execute(registers, op, FULL));
            }
            _ => return self.one_by_one(pc),
        }
        Ok(Progress::Next)
    }

    /// Executes an instruction in one warp after the other.
    fn one_by_one(&mut self, pc: u32) -> Result<Progress, Box<Fault>> {
        let instruction = &self.context.code.instructions[pc as usize];
        self.materialize(pc, |_| true);
        self.wake();
        let mut together = true;
        for index in 0..self.warps.len() {
            let flow = self.lend(index, |warp, env| warp.step(instruction, pc, env));
            together &= flow.map_err(|problem| self.lane_fault(index, pc, problem))?;
        }
        if together {
            return Ok(Progress::Next);
        }
        self.release();
        Ok(Progress::Parted)
    }

    /// Materializes the operands of an instruction that have one of these roles.
    #[inline(always)]
    fn materialize(&mut self, pc: u32, which: impl Fn(Role) -> bool) {
        for &(file, role, slot) in self.context.code.operands.at(pc) {
            if which(role) {
                self.registers.materialize(file, slot);
            }
        }
    }
}

/// The value of a guard, if it is the same in all threads.
fn agree(registers: &Registers, guard: Guard) -> Option<bool> {
    let predicates = registers.predicates(guard.predicate);
    let first = predicates[0] ^ guard.flip;
    let same = predicates.iter().all(|predicate| predicate ^ guard.flip == first);
    (same && (first == 0 || first == FULL)).then_some(first == FULL)
}

/// Whether all threads arrive at one barrier, which no thread waited for before. Then it opens at once.
fn passes(op: &Barrier, registers: &Registers, barriers: &Barriers) -> bool {
    let ids = registers.rows::<u32>(op.id).as_flattened();
    let valid = ids[0] < 16 && ids.iter().fold(0, |differs, id| differs | (id ^ ids[0])) == 0;
    op.op == BarrierOp::Sync && op.count == DISCARD && valid && barriers.idle()
}

/// Whether an instruction is an operation among all lanes of each warp. (In lockstep, all have arrived.)
fn among_all(registers: &mut Registers, op: &Collective) -> bool {
    registers.affine::<u32>(op.members()) == Some(Affine::uniform(FULL.into()))
}

/// Whether an instruction changes the flow of control.
fn steers(op: &Op) -> bool {
    matches!(op, Op::Jump(_) | Op::Wait(Wait::Barrier(_)))
}
