//! A block: its warps, its shared memory, its barriers.

use crate::code::Special;
use crate::exec::address::lanes;
use crate::exec::barrier::Barriers;
use crate::exec::{Context, Environment, Warp};
use crate::fault::{Fault, FaultKind};
use crate::lattice::{self, Lattice};
use crate::registers::{LANES, Registers};
use crate::schedule::SLICE;
use crate::visit::File;
use crate::watch::Watch;
use crate::wide::Wide;
use std::sync::atomic::Ordering::Relaxed;

/// The state of a block, used for one block of a grid after another.
pub(crate) struct Block {
    pub(crate) warps: Vec<Warp>,
    /// The registers of all warps.
    pub(crate) registers: Registers,
    pub(crate) shared: Vec<u8>,
    pub(crate) barriers: Barriers,
    pub(crate) threads: u32,
    /// Have the warps begun the block? Not before one is needed by itself.
    pub(crate) awake: bool,
    /// How many threads are a row, for addresses that form a lattice.
    pub(crate) side: usize,
    /// Of launches that ask for checks.
    pub(crate) watch: Option<Box<Watch>>,
}

impl Block {
    pub(crate) fn new(context: &Context<'_>) -> Block {
        let threads = context.block.iter().product::<u32>();
        let count = threads.div_ceil(LANES as u32);
        let kernel = &context.code.functions[context.kernel];
        let shared = match context.dynamic_shared {
            0 => kernel.shared,
            dynamic => kernel.shared.next_multiple_of(16) + dynamic,
        };
        let mut registers = Registers::new(Wide::detect(), count, 0, count);
        let mut warps: Vec<Warp> = (0..count).map(|index| Warp::new(context, index)).collect();
        for warp in &mut warps {
            registers.exchange(&mut warp.registers);
            warp.run_prologue(context);
            registers.exchange(&mut warp.registers);
        }
        registers.forget_all();
        Block {
            warps,
            registers,
            shared: vec![0; shared as usize],
            barriers: Barriers::new(count as usize),
            threads,
            awake: false,
            side: lattice::side(context.block),
            watch: Watch::new(context, shared as usize),
        }
    }

    /// Run the block at `ctaid` to its end.
    pub(crate) fn run(&mut self, context: &Context<'_>, ctaid: [u32; 3]) -> Result<(), Box<Fault>> {
        self.begin(context, ctaid);
        let mut steps = 0;
        while self.barriers.live() > 0 {
            self.make_way(context, ctaid)?;
            let before = steps;
            while let Some(pc) = self.in_step(context)
                && self.run_together(context, ctaid, pc, &mut steps)?
            {}
            for index in 0..self.warps.len() {
                if self.awake && self.warps[index].runnable() {
                    steps += self.turn(context, ctaid, index, steps)?;
                    self.barriers
                        .release(&mut self.registers, &mut self.warps, context.code);
                }
            }
            if steps == before {
                return Err(self.deadlock(context, ctaid));
            }
        }
        Ok(())
    }

    fn begin(&mut self, context: &Context<'_>, ctaid: [u32; 3]) {
        self.shared.fill(0);
        self.barriers.reset(self.threads);
        if let Some(watch) = &mut self.watch {
            watch.reset();
        }
        let kernel = &context.code.functions[context.kernel];
        for &(file, slot) in &kernel.unassigned {
            match file {
                File::R32 => self.registers.set_lattice32(slot, Lattice::uniform(0)),
                File::R64 => self.registers.set_lattice64(slot, Lattice::uniform(0)),
                File::Predicate => self.registers.fill_predicates(slot, 0),
            }
        }
        for &(slot, special) in &kernel.specials {
            if let Special::Ctaid(axis) = special {
                self.registers.set_lattice32(slot, Lattice::uniform(ctaid[axis].into()));
            }
        }
        self.awake = false;
        if self.apart(context) {
            self.settle_all(context);
            self.wake(context, ctaid);
        }
    }

    /// Must warps run by themselves? They do where not all are complete, where their accesses are watched, and where blocks may wait for
    /// each other: all warps together have no turns.
    fn apart(&self, context: &Context<'_>) -> bool {
        !self.threads.is_multiple_of(LANES as u32) || self.watch.is_some() || context.stop.is_some()
    }

    /// Let other blocks go on, where this one may be waiting for them; an error where one of them is at fault.
    fn make_way(&self, context: &Context<'_>, ctaid: [u32; 3]) -> Result<(), Box<Fault>> {
        let Some(stop) = context.stop else { return Ok(()) };
        if stop.load(Relaxed) {
            return Err(self.deadlock(context, ctaid)); // nobody is told: the first fault counts
        }
        std::thread::yield_now();
        Ok(())
    }

    /// Let each warp begin the block.
    pub(crate) fn wake(&mut self, context: &Context<'_>, ctaid: [u32; 3]) {
        if !self.awake {
            self.awake = true;
            for warp in &mut self.warps {
                warp.reset(context, ctaid);
            }
        }
    }

    /// Where all threads are, if they are together and complete warps.
    fn in_step(&self, context: &Context<'_>) -> Option<u32> {
        if self.apart(context) {
            return None;
        }
        if !self.awake {
            return Some(context.code.functions[context.kernel].start);
        }
        let pc = self.warps[0].in_step()?;
        let others = self.warps[1..].iter().all(|warp| warp.in_step() == Some(pc));
        others.then_some(pc)
    }

    /// Give a warp its turn; how many instructions it executed.
    fn turn(&mut self, context: &Context<'_>, ctaid: [u32; 3], index: usize, steps: u64) -> Result<u64, Box<Fault>> {
        let limit = context.step_limit.unwrap_or(u64::MAX);
        let Block {
            warps,
            registers,
            shared,
            barriers,
            watch,
            ..
        } = self;
        let warp = &mut warps[index];
        let mut env = Environment {
            context,
            shared,
            barriers,
            watch: watch.as_deref_mut(),
        };
        registers.exchange(&mut warp.registers);
        let result = warp.run(&mut env, SLICE.min(limit - steps));
        registers.exchange(&mut warp.registers);
        let done = result.map_err(|(pc, problem)| {
            let (lane, kind) = problem.into_parts();
            fault(context, ctaid, warp.thread(lane), pc, kind)
        })?;
        if steps + done >= limit && warp.runnable() {
            let (lane, pc) = warp.first_live();
            return Err(fault(
                context,
                ctaid,
                warp.thread(lane),
                pc,
                FaultKind::StepLimit(limit),
            ));
        }
        Ok(done)
    }

    /// Nobody can go on: say who waits for what.
    fn deadlock(&self, context: &Context<'_>, ctaid: [u32; 3]) -> Box<Fault> {
        let stuck = self.warps.iter().find(|warp| warp.live() != 0);
        let (thread, pc) = stuck.map_or(([0; 3], 0), |warp| {
            let (lane, pc) = warp.first_live();
            (warp.thread(lane), if warp.is_parked(lane) { pc - 1 } else { pc })
        });
        let waiting: u32 = self
            .warps
            .iter()
            .map(|warp| lanes(warp.waiting_lanes()).count() as u32)
            .sum();
        let mut message = self.barriers.describe();
        if waiting != 0 {
            let separator = if message.is_empty() { "" } else { "; " };
            message += &format!("{separator}{waiting} threads wait for others of their warp");
        }
        fault(context, ctaid, thread, pc, FaultKind::Deadlock(message.into()))
    }
}

/// A fault with its place.
#[cold]
pub(crate) fn fault(context: &Context<'_>, block: [u32; 3], thread: [u32; 3], pc: u32, kind: FaultKind) -> Box<Fault> {
    let code = context.code;
    let line = code.lines.get(pc as usize).copied().unwrap_or_default();
    let source = line.source.map(|(file, line)| {
        let path = code
            .files
            .iter()
            .find(|(index, _)| *index == file)
            .map(|(_, path)| path.clone());
        (path.unwrap_or_default().into(), line)
    });
    let kernel = (*code.functions[context.kernel].name).into();
    Box::new(Fault {
        kernel,
        block,
        thread,
        line: line.line,
        source,
        kind,
    })
}
