//! Execution, by family of instructions. `run::warp` decides which instruction runs next, and in which lanes.

pub(crate) mod atomic;
pub(crate) mod call;
pub(crate) mod builtin;
pub(crate) mod frame;
pub(crate) mod matrix;
pub(crate) mod lane_access;
pub(crate) mod mbarrier;
pub(crate) mod surface;
pub(crate) mod texture_fetch;
mod filter;
pub(crate) mod memory;
pub(crate) mod words;
pub(crate) mod check;
pub(crate) mod barrier;
pub(crate) mod cluster;
pub(crate) mod collective;
pub(crate) mod affine;
pub(crate) mod moves;
pub(crate) mod compare;
pub(crate) mod convert;
pub(crate) mod narrow;
pub(crate) mod math;
pub(crate) mod fragment;
pub(crate) mod float;
pub(crate) mod half;
mod update;
pub(crate) mod video;
pub(crate) mod number;
pub(crate) mod integer;
pub(crate) mod bits;

use std::sync::OnceLock;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::fence;
use std::thread;
use std::time::Instant;

use crate::code::{AtomicOp, Jump, LaneOp, MemoryOp, Op, Query, Slot, Space, Wait, window};
use crate::fault::{FaultKind, LaneFault};
use crate::sanitize::Sanitizer;
use crate::softfloat::Rounding;
use crate::state::{Context, LANES, Registers, Warp, first, lanes};
use barrier::Barriers;
use cluster::Peers;

/// The state that the warps of a block share.
pub(crate) struct Environment<'a> {
    pub(crate) context: &'a Context<'a>,
    pub(crate) shared: &'a mut [u8],
    /// The memory of the other blocks, if there are several in the cluster.
    pub(crate) peers: Option<&'a mut Peers>,
    pub(crate) barriers: &'a mut Barriers,
    /// The checks, if the launch asks for any.
    pub(crate) sanitizer: Option<Sanitizer<'a>>,
}

/// The place to which the lanes that executed an instruction go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// The next instruction.
    Next,
    /// The next instruction; the lanes may be waiting for a value that others must change.
    Spin,
    /// One place for all lanes.
    Goto(u32),
    /// For each lane, its own program counter, which was set.
    Split,
}

impl Warp {
    /// Executes one instruction, at `pc`, in the lanes of `mask`.
    #[inline(always)]
    pub(crate) fn execute(
        &mut self,
        op: &Op,
        mask: u32,
        pc: u32,
        env: &mut Environment<'_>,
    ) -> Result<Flow, LaneFault> {
        match op {
            Op::Lanes(op) => op.execute(&mut self.registers, mask),
            Op::Memory(memory) => {
                self.observe(op, mask, pc, env)?;
                return self.access(memory, mask, env);
            }
            Op::Jump(Jump::Branch(target)) => return Ok(Flow::Goto(*target)),
            _ => return self.execute_rare(op, mask, pc, env),
        }
        Ok(Flow::Next)
    }

    fn execute_rare(&mut self, op: &Op, mask: u32, pc: u32, env: &mut Environment<'_>) -> Result<Flow, LaneFault> {
        self.observe(op, mask, pc, env)?;
        match op {
            Op::Lanes(op) => op.execute(&mut self.registers, mask),
            Op::Memory(op) => return self.access(op, mask, env),
            Op::Nop => {}
            Op::Carry(op) => integer::carry(&mut self.registers, mask, op),
            Op::Query(op) => query(&mut self.registers, mask, op, env)?,
            Op::Sequence(ops) => {
                for op in ops {
                    self.execute(op, mask, pc, env)?;
                }
            }
            Op::Jump(op) => return self.jump(op, mask, pc, env),
            Op::Wait(Wait::Fence) => fence(SeqCst),
            Op::Wait(Wait::NanoSleep) => {
                // Another host thread may compute the word that the thread waits for.
                thread::yield_now();
                return Ok(Flow::Spin);
            }
            Op::Wait(Wait::Barrier(op)) => return self.barrier(op, mask, pc, env),
            &Op::Wait(Wait::Cluster(op)) => return self.cluster_barrier(op, mask, pc, env),
            Op::Collective(op) => return self.collective(op, mask, pc, env),
            Op::Matrix(op) => return self.matrix(op, mask, pc, env),
        }
        Ok(Flow::Next)
    }

    #[inline(always)]
    fn access(&mut self, op: &MemoryOp, mask: u32, env: &mut Environment<'_>) -> Result<Flow, LaneFault> {
        let mut waits = false;
        match op {
            MemoryOp::Load(op) => {
                memory::load(self, env, mask, op)?;
                waits = op.strong;
            }
            MemoryOp::Store(op) => memory::store(self, env, mask, op)?,
            MemoryOp::Atomic(op) => {
                atomic::atomic(self, env, mask, op)?;
                waits = matches!(op.op, AtomicOp::CompareExchange | AtomicOp::Exchange);
            }
            MemoryOp::AsyncCopy(op) => memory::async_copy(self, env, mask, op)?,
            MemoryOp::AsyncStore(op) => {
                memory::store(self, env, mask, &op.store)?;
                return self.mbarrier(&op.barrier, mask, env);
            }
            MemoryOp::Mbarrier(op) => return self.mbarrier(op, mask, env),
            MemoryOp::BulkCopy(op) => mbarrier::bulk_copy(&self.registers, env, mask, op)?,
            MemoryOp::Texture(op) => texture_fetch::fetch(&mut self.registers, env, mask, op)?,
            MemoryOp::Surface(op) => surface::access(&mut self.registers, env, mask, op)?,
        }
        Ok(if waits { Flow::Spin } else { Flow::Next })
    }

    fn jump(&mut self, op: &Jump, mask: u32, pc: u32, env: &mut Environment<'_>) -> Result<Flow, LaneFault> {
        match op {
            Jump::Branch(target) => Ok(Flow::Goto(*target)),
            Jump::Indexed { index, targets } => self.branch_indexed(*index, targets, mask, env),
            Jump::Call(call) => self.call(call, mask, pc, env),
            Jump::Return => Ok(self.ret(mask, env)),
            Jump::Exit => Ok(self.leave(mask, env)),
            Jump::Trap => Err(LaneFault::new(first(mask), FaultKind::Trap)),
        }
    }

    /// Lets the sanitizer examine an instruction, if the launch asks for checks.
    #[inline(always)]
    fn observe(&self, op: &Op, mask: u32, pc: u32, env: &mut Environment<'_>) -> Result<(), LaneFault> {
        match &mut env.sanitizer {
            None => Ok(()),
            Some(sanitizer) => sanitizer.observe(env.context, self, &env.barriers.generations(), mask, pc, op),
        }
    }

    /// `brx.idx`
    fn branch_indexed(
        &mut self,
        index: Slot,
        targets: &[u32],
        mask: u32,
        env: &mut Environment<'_>,
    ) -> Result<Flow, LaneFault> {
        let index = *self.registers.get32(index);
        for lane in lanes(mask) {
            let Some(&target) = targets.get(index[lane] as usize) else {
                return Err(LaneFault::new(lane, FaultKind::InvalidTarget(index[lane].into())));
            };
            self.pcs[lane] = target;
        }
        let target = self.pcs[first(mask)];
        if let Some(sanitizer) = env
            .sanitizer
            .as_mut()
            .filter(|_| lanes(mask).any(|lane| self.pcs[lane] != target))
        {
            sanitizer.diverges();
        }
        Ok(Flow::Split)
    }
}

impl LaneOp {
    /// Executes it in the lanes of `mask`, of all warps that the registers are those of; but some of these operations
    /// need the registers of one warp: see [`is_of_one_warp`](Self::is_of_one_warp).
    #[inline(always)]
    pub(crate) fn execute(&self, registers: &mut Registers, mask: u32) {
        match self {
            LaneOp::Integer(op) => integer::integer(registers, mask, op),
            LaneOp::Float(op) => float::float(registers, mask, op),
            LaneOp::Compare(op) => compare::compare(registers, mask, op),
            LaneOp::Select(op) => compare::select(registers, mask, op),
            LaneOp::Move(op) => moves::mov(registers, mask, op),
            LaneOp::Convert(op) => convert::convert(registers, mask, op),
            LaneOp::Bits(op) => bits::bits(registers, mask, op),
            LaneOp::Math(op) => math::math(registers, mask, op),
            LaneOp::Logic(op) => moves::logic(registers, mask, op),
            LaneOp::Narrow(op) => narrow::convert(registers, mask, op),
            LaneOp::Video(op) => video::video(registers, mask, op),
            LaneOp::Test(op) => compare::test_property(registers, mask, op),
        }
    }

    /// Whether it must be executed in one warp after the other.
    #[inline(always)]
    pub(crate) fn is_of_one_warp(&self) -> bool {
        match self {
            LaneOp::Integer(_) => false,
            LaneOp::Float(op) => op.round != Rounding::Nearest || op.ty.is_half(),
            _ => true,
        }
    }
}

/// Answers a question in the lanes of `mask`.
fn query(registers: &mut Registers, mask: u32, op: &Query, env: &Environment<'_>) -> Result<(), LaneFault> {
    match *op {
        Query::LocalAddress {
            d,
            offset,
            wide,
            generic,
        } => {
            let start = if generic { Space::Local.window() } else { 0 };
            let address = start + u64::from(registers.frame.local.wrapping_add(offset));
            registers.write(wide, d, mask, [address; LANES]);
        }
        Query::IsSpace { d, a, space, constant } => {
            let constants = &env.context.code.constants;
            let holds = registers.test2([a, a], |address: u64, _: u64| {
                let is_constant = || constants.iter().any(|range| range.contains(&address));
                window(address).0 == space && (space != Space::Global || is_constant() == constant)
            });
            registers.set_predicate(d, mask, holds);
        }
        Query::Clock { d, wide } => {
            // The nanoseconds since a kernel first asked for the time.
            static START: OnceLock<Instant> = OnceLock::new();
            let now = START.get_or_init(Instant::now).elapsed().as_nanos() as u64;
            registers.write(wide, d, mask, [now; LANES]);
        }
        Query::ActiveMask { d } => registers.set(d, mask, [mask; LANES]),
        Query::ClusterAddress(ref op) => cluster::address(registers, env, mask, op),
        Query::Texture(ref op) => texture_fetch::query(registers, env, mask, op)?,
    }
    Ok(())
}
