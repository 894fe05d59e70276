//! A block: its warps, its shared memory, its barriers.

use std::sync::atomic::Ordering::Relaxed;

use crate::code::{File, RESERVED_SHARED, Special, declared_shared};
use crate::exec::Environment;
use crate::exec::barrier::Barriers;
use crate::exec::cluster::Peers;
use crate::fault::{Fault, FaultKind, LaneFault};
use crate::sanitize::Sanitizer;
use crate::sanitize::counts::Counts;
use crate::sanitize::global::GlobalSanitizer;
use crate::sanitize::shared::SharedSanitizer;
use crate::state::affine::Affine;
use crate::state::{Context, LANES, Registers, Warp};

/// The state of a block, which is used for one block of a grid after another.
pub(super) struct Block<'a> {
    pub(super) context: &'a Context<'a>,
    /// The position of the block that is running.
    pub(super) ctaid: [u32; 3],
    pub(super) warps: Vec<Warp>,
    /// The registers of all warps.
    pub(super) registers: Registers,
    pub(super) shared: Vec<u8>,
    /// The memory of the other blocks of the cluster, while the block has its turn among several.
    pub(super) peers: Option<Peers>,
    pub(super) barriers: Barriers,
    pub(super) threads: u32,
    /// The number of bytes of shared memory that the kernel and the launch declare.
    pub(super) declared: usize,
    /// The number of warp instructions that were executed.
    pub(super) steps: u64,
    /// The number of warp instructions of the blocks before.
    earlier_steps: u64,
    /// Whether the warps have begun the block. They do that only when one must run by itself.
    pub(super) awake: bool,
    /// The checks of shared memory, if the launch asks for any.
    pub(super) shared_sanitizer: Option<Box<SharedSanitizer>>,
    /// The checks of global memory, if the launch asks for any.
    pub(super) global_sanitizer: Option<&'a GlobalSanitizer<'a>>,
    /// The counts of all blocks that it was used for, if the launch asks for them.
    counts: Option<Counts>,
}

impl<'a> Block<'a> {
    pub(super) fn new(context: &'a Context<'a>, global_sanitizer: Option<&'a GlobalSanitizer<'a>>) -> Block<'a> {
        let threads = context.block.iter().product::<u32>();
        let count = threads.div_ceil(LANES as u32);
        let kernel = context.function();
        let declared = declared_shared(kernel.shared, context.dynamic_shared);
        let shared = if context.code.uses_reserved_shared() {
            declared.next_multiple_of(16) + RESERVED_SHARED
        } else {
            declared
        };
        let mut registers = Registers::of_block(context.block);
        let mut warps: Vec<Warp> = (0..count).map(|index| Warp::new(context, index)).collect();
        for warp in &mut warps {
            registers.exchange(&mut warp.registers);
            warp.run_prologue(context);
            registers.exchange(&mut warp.registers);
        }
        registers.forget_all();
        Block {
            context,
            ctaid: [0; 3],
            warps,
            registers,
            shared: vec![0; shared as usize],
            peers: None,
            barriers: Barriers::new(count as usize),
            threads,
            steps: 0,
            earlier_steps: 0,
            awake: false,
            shared_sanitizer: (context.cluster_blocks() == 1)
                .then(|| SharedSanitizer::new(context, declared as usize, shared as usize).map(Box::new))
                .flatten(),
            declared: declared as usize,
            global_sanitizer,
            counts: context.options.count.then(Counts::default),
        }
    }

    /// Begins the block at `ctaid`.
    pub(super) fn begin(&mut self, ctaid: [u32; 3]) {
        self.ctaid = ctaid;
        self.earlier_steps += std::mem::take(&mut self.steps);
        self.shared.fill(0);
        self.barriers.reset(self.threads);
        if let (Some(sanitizer), None) = (&mut self.shared_sanitizer, &self.peers) {
            sanitizer.reset();
        }
        let kernel = self.context.function();
        for &(file, slot) in &kernel.unassigned {
            match file {
                File::R32 => self.registers.set_affine::<u32>(slot, Affine::uniform(0)),
                File::R64 => self.registers.set_affine::<u64>(slot, Affine::uniform(0)),
                File::Predicate => self.registers.fill_predicates(slot, 0),
            }
        }
        for &(slot, special) in &kernel.specials {
            if let Special::Position(position) = special {
                let value = position.of_block(ctaid, self.context.cluster);
                self.registers.set_affine::<u32>(slot, Affine::uniform(value.into()));
            }
        }
        self.awake = false;
        if self.runs_apart() {
            self.materialize_all();
            self.wake();
        }
    }

    /// Whether warps must run by themselves: if not all are complete, and if their accesses are checked.
    pub(super) fn runs_apart(&self) -> bool {
        !self.threads.is_multiple_of(LANES as u32) || self.is_examined()
    }

    /// Whether instructions are examined before they are executed.
    fn is_examined(&self) -> bool {
        self.shared_sanitizer.is_some()
            || self.global_sanitizer.is_some()
            || self.counts.is_some()
            || self.context.floats.is_active()
    }

    /// Lets each warp begin the block.
    pub(super) fn wake(&mut self) {
        if !self.awake {
            self.awake = true;
            for warp in &mut self.warps {
                warp.reset(self.context, self.ctaid);
            }
        }
    }

    /// Materializes all registers of the kernel's own frame.
    pub(super) fn materialize_all(&mut self) {
        let frame = self.context.function().frame;
        self.registers.materialize_all(frame.r32, frame.r64);
    }

    /// Lends the block to one of its warps: `run` gets the warp, which has the registers, and its environment.
    #[inline(always)]
    pub(super) fn lend<T>(&mut self, index: usize, run: impl FnOnce(&mut Warp, &mut Environment<'_>) -> T) -> T {
        let checks = self.is_examined();
        let warp = &mut self.warps[index];
        let mut env = Environment {
            context: self.context,
            shared: &mut self.shared,
            peers: self.peers.as_mut(),
            barriers: &mut self.barriers,
            sanitizer: checks.then_some(Sanitizer {
                shared: self.shared_sanitizer.as_deref_mut(),
                global: self.global_sanitizer,
                counts: self.counts.as_mut(),
                block: self.ctaid,
            }),
        };
        self.registers.exchange(&mut warp.registers);
        let result = run(warp, &mut env);
        self.registers.exchange(&mut warp.registers);
        result
    }

    /// Releases the threads whose barrier is complete.
    pub(super) fn release(&mut self) {
        let alone = self.peers.is_none();
        self.barriers
            .release(&mut self.registers, &mut self.warps, self.context.code, alone);
    }

    /// A fault of a lane of a warp, with its place.
    #[cold]
    pub(super) fn lane_fault(&self, warp: usize, pc: u32, problem: LaneFault) -> Box<Fault> {
        let (lane, kind) = problem.into_parts();
        fault(self.context, self.ctaid, self.warps[warp].thread(lane), pc, kind)
    }
}

/// Adds the counts of all blocks that it was used for to those of the launch: once for each host thread, so that
/// these do not wait for each other.
impl Drop for Block<'_> {
    fn drop(&mut self) {
        let totals = self.context.totals;
        totals.instructions.fetch_add(self.earlier_steps + self.steps, Relaxed);
        if let Some(counts) = self.counts {
            totals.bank_conflicts.fetch_add(counts.bank_conflicts, Relaxed);
            totals.divergent_branches.fetch_add(counts.divergent_branches, Relaxed);
        }
    }
}

/// A fault with its place.
#[cold]
pub(super) fn fault(context: &Context<'_>, block: [u32; 3], thread: [u32; 3], pc: u32, kind: FaultKind) -> Box<Fault> {
    let code = context.code;
    let line = code.lines.get(pc as usize).copied().unwrap_or_default();
    let place = |(file, line): (u32, u32)| {
        let path = code
            .files
            .iter()
            .find(|(index, _)| *index == file)
            .map(|(_, path)| path.clone());
        (path.unwrap_or_default().into(), line)
    };
    let kernel = (*code.functions[context.kernel].name).into();
    Box::new(Fault {
        kernel,
        block,
        thread,
        line: line.line,
        source: line.source.map(place),
        inlined_at: line.inlined_at.map(place).map(Box::new),
        kind,
    })
}
