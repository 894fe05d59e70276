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
pub(crate) mod number;
pub(crate) mod integer;
pub(crate) mod bits;
pub(crate) mod video;

use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::fence;

use crate::code::{AtomicOp, LOCAL_WINDOW, Op, Slot, Space, window};
use crate::fault::{FaultKind, LaneFault};
use crate::sanitize::Sanitizer;
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
        let registers = &mut self.registers;
        match op {
            Op::Integer(op) => integer::integer(registers, mask, op),
            Op::Multiply(op) => integer::multiply_wide(registers, mask, op),
            Op::Shift(op) => integer::shift(registers, mask, op),
            Op::Float(op) => float::float(registers, mask, op),
            Op::Compare(op) => compare::compare(registers, mask, op),
            Op::Select(op) => compare::select(registers, mask, op),
            Op::Move(op) => moves::mov(registers, mask, op),
            Op::Convert(op) => convert::convert(registers, mask, op),
            Op::Bits(op) => bits::bits(registers, mask, op),
            Op::Math(op) => math::math(registers, mask, op),
            Op::Predicate(op) => moves::predicate(registers, mask, op),
            Op::Load(access) => {
                self.observe(op, mask, pc, env)?;
                memory::load(self, env, mask, access)?;
                return Ok(if access.strong { Flow::Spin } else { Flow::Next });
            }
            Op::Store(access) => {
                self.observe(op, mask, pc, env)?;
                memory::store(self, env, mask, access)?;
            }
            Op::Branch(target) => return Ok(Flow::Goto(*target)),
            _ => return self.execute_rare(op, mask, pc, env),
        }
        Ok(Flow::Next)
    }

    fn execute_rare(&mut self, op: &Op, mask: u32, pc: u32, env: &mut Environment<'_>) -> Result<Flow, LaneFault> {
        self.observe(op, mask, pc, env)?;
        let registers = &mut self.registers;
        match op {
            Op::Carry(op) => integer::carry(registers, mask, op),
            Op::Narrow(op) => narrow::convert(registers, mask, op),
            Op::Video(op) => video::video(registers, mask, op),
            Op::Test(op) => compare::test_property(registers, mask, op),
            Op::Atomic(op) => {
                atomic::atomic(self, env, mask, op)?;
                let waits = matches!(op.op, AtomicOp::CompareExchange | AtomicOp::Exchange);
                return Ok(if waits { Flow::Spin } else { Flow::Next });
            }
            Op::Sequence(ops) => {
                for op in ops {
                    self.execute(op, mask, pc, env)?;
                }
            }
            Op::AsyncCopy(op) => memory::async_copy(self, env, mask, op)?,
            &Op::LocalAddress {
                d,
                offset,
                wide,
                generic,
            } => local_address(registers, mask, d, offset, wide, generic),
            &Op::IsSpace { d, a, space, constant } => {
                let constants = &env.context.code.constants;
                let holds = registers.test2([a, a], |address: u64, _: u64| {
                    let is_constant = || constants.iter().any(|range| range.contains(&address));
                    window(address).0 == space && (space != Space::Global || is_constant() == constant)
                });
                registers.set_predicate(d, mask, holds);
            }
            Op::Fence => fence(SeqCst),
            &Op::Clock { d, wide } => clock(registers, mask, d, wide),
            Op::NanoSleep => return Ok(Flow::Spin),
            Op::BranchIndexed { index, targets } => return self.branch_indexed(*index, targets, mask),
            Op::Call(call) => return self.call(call, mask, pc, env),
            Op::Return => return Ok(self.ret(mask, env)),
            Op::Exit => {
                self.leave(mask, env);
                return Ok(Flow::Split);
            }
            Op::Trap => return Err(LaneFault::new(first(mask), FaultKind::Trap)),
            Op::Barrier(op) => return self.barrier(op, mask, pc, env),
            Op::Mbarrier(op) => return self.mbarrier(op, mask, env),
            Op::BulkCopy(op) => mbarrier::bulk_copy(registers, env, mask, op)?,
            Op::TextureFetch(op) => texture_fetch::fetch(registers, env, mask, op)?,
            Op::TextureQuery(op) => texture_fetch::query(registers, env, mask, op)?,
            Op::Surface(op) => surface::access(registers, env, mask, op)?,
            &Op::Cluster(op) => return self.cluster_barrier(op, mask, pc, env),
            Op::ClusterAddress(op) => cluster::address(registers, env, mask, op),
            Op::Matrix(op) => return self.matrix(op, mask, pc, env),
            &Op::ActiveMask { d } => registers.set(d, mask, [mask; LANES]),
            Op::Collective(op) => return self.collective(op, mask, pc),
            Op::Nop => {}
            Op::Integer(_)
            | Op::Multiply(_)
            | Op::Shift(_)
            | Op::Float(_)
            | Op::Compare(_)
            | Op::Select(_)
            | Op::Move(_)
            | Op::Convert(_)
            | Op::Bits(_)
            | Op::Math(_)
            | Op::Predicate(_)
            | Op::Load(_)
            | Op::Store(_)
            | Op::Branch(_) => unreachable!("`execute` has these"),
        }
        Ok(Flow::Next)
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
    fn branch_indexed(&mut self, index: Slot, targets: &[u32], mask: u32) -> Result<Flow, LaneFault> {
        let index = *self.registers.get32(index);
        for lane in lanes(mask) {
            let Some(&target) = targets.get(index[lane] as usize) else {
                return Err(LaneFault::new(lane, FaultKind::InvalidTarget(index[lane].into())));
            };
            self.pcs[lane] = target;
        }
        Ok(Flow::Split)
    }
}

/// The address of a variable in the frame.
fn local_address(registers: &mut Registers, mask: u32, d: Slot, offset: u32, wide: bool, generic: bool) {
    let address = u64::from(registers.frame.local.wrapping_add(offset)) + if generic { LOCAL_WINDOW } else { 0 };
    if wide {
        registers.set(d, mask, [address; LANES]);
    } else {
        registers.set(d, mask, [address as u32; LANES]);
    }
}

/// The nanoseconds since a kernel first asked for the time.
fn clock(registers: &mut Registers, mask: u32, d: Slot, wide: bool) {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    let now = START.get_or_init(std::time::Instant::now).elapsed().as_nanos() as u64;
    if wide {
        registers.set(d, mask, [now; LANES]);
    } else {
        registers.set(d, mask, [now as u32; LANES]);
    }
}
