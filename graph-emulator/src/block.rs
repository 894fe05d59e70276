//! A block: its warps, its shared memory, its barriers.

use crate::exec::address::lanes;
use crate::exec::barrier::Barriers;
use crate::exec::{Context, Environment, Warp};
use crate::fault::{Fault, FaultKind};
use crate::registers::LANES;
use crate::schedule::SLICE;
use crate::watch::Watch;

/// The state of a block, used for one block of a grid after another.
pub(crate) struct Block {
    warps: Vec<Warp>,
    shared: Vec<u8>,
    barriers: Barriers,
    threads: u32,
    watch: Option<Box<Watch>>,
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
        Block {
            warps: (0..count).map(|index| Warp::new(context, index)).collect(),
            shared: vec![0; shared as usize],
            barriers: Barriers::new(count as usize),
            threads,
            watch: Watch::new(context, shared as usize),
        }
    }

    /// Run the block at `ctaid` to its end.
    pub(crate) fn run(&mut self, context: &Context<'_>, ctaid: [u32; 3]) -> Result<(), Box<Fault>> {
        self.shared.fill(0);
        self.barriers.reset(self.threads);
        if let Some(watch) = &mut self.watch {
            watch.reset();
        }
        for warp in &mut self.warps {
            warp.reset(context, ctaid);
        }
        let mut steps = 0;
        while self.barriers.live() > 0 {
            let before = steps;
            for index in 0..self.warps.len() {
                if self.warps[index].runnable() {
                    steps += self.turn(context, ctaid, index, steps)?;
                    self.barriers.release(&mut self.warps, context.code);
                }
            }
            if steps == before {
                return Err(self.deadlock(context, ctaid));
            }
        }
        Ok(())
    }

    /// Give a warp its turn; how many instructions it executed.
    fn turn(&mut self, context: &Context<'_>, ctaid: [u32; 3], index: usize, steps: u64) -> Result<u64, Box<Fault>> {
        let limit = context.step_limit.unwrap_or(u64::MAX);
        let Block {
            warps,
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
        let done = warp.run(&mut env, SLICE.min(limit - steps)).map_err(|(pc, problem)| {
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
fn fault(context: &Context<'_>, block: [u32; 3], thread: [u32; 3], pc: u32, kind: FaultKind) -> Box<Fault> {
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
