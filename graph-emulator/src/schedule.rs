//! A warp: which of its lanes run next, and from where.
//!
//! Lanes at one instruction of one frame form a group and run together. Of several groups the one deepest in calls, then
//! the one at the smallest program counter, goes first, so that lanes which parted meet again. A group that seems to wait
//! for others (many atomic or volatile accesses) or has run for long is set aside for the next one: thus a spin lock
//! between lanes of a warp makes progress.

mod select;
mod special;

use crate::code::Instruction;
use crate::exec::address::lanes;
use crate::exec::barrier::Barriers;
use crate::exec::call::Activation;
use crate::exec::local::Local;
use crate::exec::{Context, Environment, Flow, LaneFault};
use crate::registers::{Frame, LANES, Registers};
use select::Group;
use special::Specials;

/// Instructions a warp may execute before another has its turn.
pub(crate) const SLICE: u64 = 1 << 16;
/// Accesses that may be waiting for someone, before another has its turn.
const PATIENCE: u32 = 48;

/// A warp.
pub(crate) struct Warp {
    pub(crate) registers: Registers,
    pub(crate) local: Local,
    index: u32,
    pcs: [u32; LANES],
    /// The frame of each lane, an index into `activations`.
    frames: [u32; LANES],
    activations: Vec<Activation>,
    exists: u32,
    exited: u32,
    /// Lanes that wait at a barrier of the block.
    parked: u32,
    /// Lanes that wait for other lanes of the warp.
    waiting: u32,
    /// The lanes whose turn ended: others go first.
    set_aside: u32,
    turn: u32,
    /// The frame that is executing.
    current: u32,
    specials: Specials,
}

impl Warp {
    /// A warp of a kernel, to be used for one block after another.
    pub(crate) fn new(context: &Context<'_>, index: u32) -> Warp {
        let kernel = &context.code.functions[context.kernel];
        let threads = context.block.iter().product::<u32>();
        let count = threads.saturating_sub(index * LANES as u32).min(LANES as u32);
        let activation = Activation {
            parent: 0,
            site: 0,
            function: context.kernel as u32,
            depth: 0,
            frame: Frame::default(),
        };
        let mut warp = Warp {
            registers: Registers::new(crate::wide::Wide::detect(), threads.div_ceil(LANES as u32), index, 1),
            local: Local::default(),
            index,
            pcs: [0; LANES],
            frames: [0; LANES],
            activations: vec![activation],
            exists: if count == 32 { u32::MAX } else { (1 << count) - 1 },
            exited: 0,
            parked: 0,
            waiting: 0,
            set_aside: 0,
            turn: 0,
            current: 0,
            specials: Specials {
                block: context.block,
                grid: context.grid,
                ctaid: [0; 3],
                static_shared: kernel.shared,
                dynamic_shared: context.dynamic_shared,
            },
        };
        warp.local.reserve(kernel.frame.local);
        warp
    }

    /// Compute what is the same in all blocks.
    pub(crate) fn run_prologue(&mut self, context: &Context<'_>) {
        self.fill_constants(&context.code.functions[context.kernel], u32::MAX);
        let mut barriers = Barriers::new(0);
        let mut env = Environment {
            context,
            shared: &mut [],
            barriers: &mut barriers,
            watch: None,
        };
        for instruction in &context.code.functions[context.kernel].prologue {
            let result = self.execute(&instruction.op, u32::MAX, 0, &mut env);
            debug_assert!(result.is_ok(), "`decode::hoist` moves only what cannot fault");
        }
    }

    /// Begin a block.
    pub(crate) fn reset(&mut self, context: &Context<'_>, ctaid: [u32; 3]) {
        let kernel = &context.code.functions[context.kernel];
        self.pcs = [kernel.start; LANES];
        self.frames = [0; LANES];
        self.activations.truncate(1);
        (self.exited, self.parked, self.waiting, self.set_aside, self.turn) = (0, 0, 0, 0, 0);
        self.current = 0;
        self.registers.frame = Frame::default();
        self.registers.carry = 0;
        self.specials.ctaid = ctaid;
        self.local.clear(kernel.frame.local);
    }

    /// The program counter of all 32 lanes, where they are at one in the kernel's own frame and none waits.
    pub(crate) fn in_step(&self) -> Option<u32> {
        let waits = self.parked | self.waiting;
        let differs = self.pcs.iter().fold(0, |differs, pc| differs | (pc ^ self.pcs[0]));
        let called = self.frames.iter().fold(0, |called, frame| called | frame);
        (self.live() == u32::MAX && waits | differs | called == 0).then_some(self.pcs[0])
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
        self.set_pcs(u32::MAX, pc + 1);
        let active = match instruction.guard {
            None => u32::MAX,
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

    pub(crate) fn index(&self) -> usize {
        self.index as usize
    }

    /// Lanes that have not exited.
    pub(crate) fn live(&self) -> u32 {
        self.exists & !self.exited
    }

    /// Can anything happen in this warp?
    pub(crate) fn runnable(&self) -> bool {
        self.live() & !self.parked != 0
    }

    pub(crate) fn set_pc(&mut self, lane: usize, pc: u32) {
        self.pcs[lane] = pc;
    }

    pub(crate) fn set_pcs(&mut self, mask: u32, pc: u32) {
        for lane in 0..LANES {
            self.pcs[lane] = if mask >> lane & 1 != 0 { pc } else { self.pcs[lane] };
        }
    }

    pub(crate) fn is_parked(&self, lane: usize) -> bool {
        self.parked >> lane & 1 != 0
    }

    /// Lanes that wait for others of the warp.
    pub(crate) fn waiting_lanes(&self) -> u32 {
        self.waiting & self.live()
    }

    /// Wait at a barrier.
    pub(crate) fn park(&mut self, mask: u32) {
        self.parked |= mask;
    }

    pub(crate) fn unpark(&mut self, mask: u32) {
        self.parked &= !mask;
    }

    /// Wait for other lanes.
    pub(crate) fn wait(&mut self, mask: u32) {
        self.waiting |= mask;
    }

    pub(crate) fn exit(&mut self, mask: u32, env: &mut Environment<'_>) {
        self.exited |= mask;
        env.barriers.exit(mask.count_ones());
    }

    /// Program counter and frame of a lane.
    pub(crate) fn position(&self, lane: usize) -> (u32, Frame) {
        (self.pcs[lane], self.activations[self.frames[lane] as usize].frame)
    }

    /// The frame that is executing, as an index into the activations.
    pub(crate) fn current(&self) -> u32 {
        self.current
    }

    pub(crate) fn activations(&self) -> &[Activation] {
        &self.activations
    }

    pub(crate) fn push_activation(&mut self, activation: Activation) -> u32 {
        self.activations.push(activation);
        self.activations.len() as u32 - 1
    }

    /// Forget the latest activations that no lane is in.
    pub(crate) fn pop_activations(&mut self) {
        let live = self.live();
        let highest = lanes(live).map(|lane| self.frames[lane]).max().unwrap_or(0);
        self.activations.truncate(highest as usize + 1);
    }

    /// Put lanes into a frame.
    pub(crate) fn move_to(&mut self, mask: u32, activation: u32, pc: u32) {
        self.set_pcs(mask, pc);
        for lane in lanes(mask) {
            self.frames[lane] = activation;
        }
    }

    /// The first lane that has not exited, and its program counter.
    pub(crate) fn first_live(&self) -> (usize, u32) {
        let lane = self.live().trailing_zeros() as usize % LANES;
        (lane, self.pcs[lane])
    }

    /// Run until every lane waits or has exited, or the turn is over. Returns how many instructions were executed; a
    /// fault comes with its program counter.
    pub(crate) fn run(&mut self, env: &mut Environment<'_>, budget: u64) -> Result<u64, (u32, LaneFault)> {
        let mut steps = 0;
        let mut patience = PATIENCE;
        while let Some(group) = self.select(env) {
            self.enter_group(&group);
            match self.run_group(group, env, &mut steps, budget, &mut patience)? {
                Turn::Goes => {}
                Turn::Over => break,
            }
        }
        Ok(steps)
    }

    fn enter_group(&mut self, group: &Group) {
        self.current = self.frames[group.mask.trailing_zeros() as usize % LANES];
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
