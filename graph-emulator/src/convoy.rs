//! All warps of a block together: as long as every thread is at the same instruction, it is decoded once and applied to
//! all of them, and arriving at a barrier is nothing to wait for. When threads part, each warp goes on by itself, until a
//! barrier brings all together again.

use crate::block::{Block, fault};
use crate::code::{Barrier, BarrierOp, DISCARD, FloatType, Guard, Op, Rounding, Slot};
use crate::exec::barrier::Barriers;
use crate::exec::fast::simple;
use crate::exec::{Context, Environment, bits, collective, compare, convert, float, integer, math, moves, rows, steps};
use crate::fault::Fault;
use crate::lattice::Lattice;
use crate::registers::{FULL, Registers};
use crate::visit::{File, Role};

/// What became of an instruction.
enum Outcome {
    /// All go to the next one.
    Next,
    Goto(u32),
    /// The block has come to its end.
    Ended,
    /// Warps have gone where their own program counters say.
    Parted,
    /// It is for each warp to execute by itself, from this instruction on.
    Part,
}

impl Block {
    /// Run all warps from an instruction on that they are all at, until they part: true if they may have met again.
    /// Counts the instructions of all warps.
    pub(crate) fn run_together(
        &mut self,
        context: &Context<'_>,
        ctaid: [u32; 3],
        mut pc: u32,
        steps: &mut u64,
    ) -> Result<bool, Box<Fault>> {
        let warps = self.warps.len() as u64;
        let limit = context.step_limit.unwrap_or(u64::MAX);
        while steps.saturating_add(warps) <= limit {
            let instruction = &context.code.instructions[pc as usize];
            let outcome = match instruction.guard.map(|guard| agree(&self.registers, guard)) {
                Some(Some(false)) => Outcome::Next,
                Some(None) if instruction.op.steers() => Outcome::Part,
                Some(None) => self.one_by_one(context, ctaid, pc)?,
                // What lattices say in few words is not written out.
                None | Some(Some(true)) if steps::step(&mut self.registers, &instruction.op, self.side) => {
                    Outcome::Next
                }
                None | Some(Some(true)) => self.step(context, ctaid, &instruction.op, pc)?,
            };
            match outcome {
                Outcome::Next => pc += 1,
                Outcome::Goto(target) => pc = target,
                Outcome::Part => break,
                Outcome::Ended => {
                    *steps += warps;
                    return Ok(false);
                }
                Outcome::Parted => {
                    *steps += warps;
                    self.settle_all(context);
                    return Ok(true);
                }
            }
            *steps += warps;
        }
        self.settle_all(context);
        self.wake(context, ctaid);
        for warp in &mut self.warps {
            warp.set_pcs(FULL, pc);
        }
        Ok(false)
    }

    /// Execute an instruction in all threads.
    fn step(&mut self, context: &Context<'_>, ctaid: [u32; 3], op: &Op, pc: u32) -> Result<Outcome, Box<Fault>> {
        let side = self.side;
        let mut env = Environment {
            context,
            shared: &mut self.shared,
            barriers: &mut self.barriers,
            watch: None,
        };
        match op {
            Op::Load(op) if simple(op, FULL) && rows::load_rows(&mut self.registers, &env, op, side) => {
                return Ok(Outcome::Next);
            }
            Op::Store(op) if simple(op, FULL) => {
                self.registers.settle(File::R32, op.values[0], side);
                if rows::store_rows(&mut self.registers, &mut env, op, side) {
                    return Ok(Outcome::Next);
                }
            }
            Op::Load(_) | Op::Store(_) => {}
            _ => settle(&mut self.registers, context.code.operands.at(pc), side, |role| {
                role == Role::Source
            }),
        }
        match op {
            Op::Branch(target) => return Ok(Outcome::Goto(*target)),
            Op::Barrier(op) if passes(op, &self.registers, env.barriers) => {}
            Op::Return | Op::Exit => {
                env.barriers.exit(self.threads);
                self.awake = false;
                return Ok(Outcome::Ended);
            }
            op if in_lanes(&mut self.registers, op) => {}
            op if among_all(&mut self.registers, op, side) => {
                self.registers
                    .each_warp(|registers| collective::execute(registers, op, FULL));
            }
            _ => return self.one_by_one(context, ctaid, pc),
        }
        Ok(Outcome::Next)
    }

    /// Write the values of all registers that are yet to be written.
    pub(crate) fn settle_all(&mut self, context: &Context<'_>) {
        let frame = context.code.functions[context.kernel].frame;
        self.registers.settle_all(frame.r32, frame.r64, self.side);
    }

    /// Execute an instruction in one warp after the other.
    fn one_by_one(&mut self, context: &Context<'_>, ctaid: [u32; 3], pc: u32) -> Result<Outcome, Box<Fault>> {
        let instruction = &context.code.instructions[pc as usize];
        settle(&mut self.registers, context.code.operands.at(pc), self.side, |_| true);
        self.wake(context, ctaid);
        let mut together = true;
        for warp in &mut self.warps {
            let mut env = Environment {
                context,
                shared: &mut self.shared,
                barriers: &mut self.barriers,
                watch: None,
            };
            self.registers.exchange(&mut warp.registers);
            let flow = warp.step(instruction, pc, &mut env);
            self.registers.exchange(&mut warp.registers);
            together &= flow.map_err(|problem| {
                let (lane, kind) = problem.into_parts();
                fault(context, ctaid, warp.thread(lane), pc, kind)
            })?;
        }
        if together {
            return Ok(Outcome::Next);
        }
        self.barriers
            .release(&mut self.registers, &mut self.warps, context.code);
        Ok(Outcome::Parted)
    }
}

/// Write the values of operands that are yet to be written.
#[inline(always)]
fn settle(registers: &mut Registers, operands: &[(File, Role, Slot)], side: usize, which: impl Fn(Role) -> bool) {
    for &(file, role, slot) in operands {
        if which(role) {
            registers.settle(file, slot, side);
        }
    }
}

/// Do all threads agree about a guard, and on what?
fn agree(registers: &Registers, guard: Guard) -> Option<bool> {
    let predicates = registers.predicates(guard.predicate);
    let first = predicates[0] ^ guard.flip;
    let same = predicates.iter().all(|predicate| predicate ^ guard.flip == first);
    (same && (first == 0 || first == FULL)).then_some(first == FULL)
}

/// Is a barrier one for all threads, at which nobody else has arrived? Then all have arrived now.
fn passes(op: &Barrier, registers: &Registers, barriers: &Barriers) -> bool {
    let ids = registers.rows32(op.id).as_flattened();
    let valid = ids[0] < 16 && ids.iter().fold(0, |differs, id| differs | (id ^ ids[0])) == 0;
    op.op == BarrierOp::Sync && op.count == DISCARD && valid && barriers.idle()
}

/// Is an instruction a simple operation among all lanes of each warp? Its partners are all there.
fn among_all(registers: &mut Registers, op: &Op, side: usize) -> bool {
    let members = match op {
        Op::Shuffle(op) => op.mask,
        Op::Vote(op) => op.mask,
        Op::Reduce(op) => op.mask,
        Op::WarpBarrier { mask } => *mask,
        _ => return false,
    };
    registers.lattice32(members, side) == Some(Lattice::uniform(FULL.into()))
}

/// Execute an instruction that does the same in every lane, whatever the others do, and cannot fault; false for others.
fn in_lanes(registers: &mut Registers, op: &Op) -> bool {
    match op {
        Op::Nop => {}
        Op::Integer(op) => integer::integer(registers, FULL, op),
        Op::Multiply(op) => integer::multiply_wide(registers, FULL, op),
        Op::Shift(op) => integer::shift(registers, FULL, op),
        Op::Float(op) if op.round == Rounding::Nearest && matches!(op.ty, FloatType::F32 | FloatType::F64) => {
            float::float(registers, FULL, op);
        }
        Op::Float(op) => registers.each_warp(|registers| float::float(registers, FULL, op)),
        Op::Compare(op) => registers.each_warp(|registers| compare::compare(registers, FULL, op)),
        Op::Select(op) => registers.each_warp(|registers| compare::select(registers, FULL, op)),
        Op::Test(op) => registers.each_warp(|registers| compare::test_property(registers, FULL, op)),
        Op::Move(op) => registers.each_warp(|registers| moves::mov(registers, FULL, op)),
        Op::Predicate(op) => registers.each_warp(|registers| moves::predicate(registers, FULL, op)),
        Op::Convert(op) => registers.each_warp(|registers| convert::convert(registers, FULL, op)),
        Op::Bits(op) => registers.each_warp(|registers| bits::bits(registers, FULL, op)),
        Op::Math(op) => registers.each_warp(|registers| math::math(registers, FULL, op)),
        _ => return false,
    }
    true
}

impl Op {
    /// Does it say where to go on?
    fn steers(&self) -> bool {
        matches!(
            self,
            Op::Branch(_) | Op::BranchIndexed { .. } | Op::Call(_) | Op::Return | Op::Exit | Op::Barrier(_)
        )
    }
}
