//! A warp: which of its lanes run next, and from where.
//!
//! Lanes at one instruction of one frame form a group and run together. Of several groups the one deepest in calls, then
//! the one at the smallest program counter, goes first, so that lanes which parted meet again. A group that seems to wait
//! for others (many atomic or volatile accesses) or has run for long is set aside for the next one: thus a spin lock
//! between lanes of a warp makes progress.

use crate::code::{Instruction, Op, Special};
use crate::exec::address::lanes;
use crate::exec::barrier::Barriers;
use crate::exec::call::Activation;
use crate::exec::local::Local;
use crate::exec::{Context, Environment, Flow, LaneFault};
use crate::registers::{Frame, LANES, Registers};

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

/// What special registers are made of.
#[derive(Clone, Copy, Default)]
struct Specials {
    block: [u32; 3],
    grid: [u32; 3],
    ctaid: [u32; 3],
    static_shared: u32,
    dynamic_shared: u32,
}

/// Lanes that run together.
struct Group {
    mask: u32,
    pc: u32,
    /// The program counter at which others of the same frame wait.
    limit: u32,
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

    /// `%tid` of a lane.
    pub(crate) fn thread(&self, lane: usize) -> [u32; 3] {
        let [x, y, _] = self.specials.block;
        let linear = self.index * LANES as u32 + lane as u32;
        [linear % x, linear / x % y, linear / x / y]
    }

    /// The value of a special register in each lane.
    pub(crate) fn special(&self, special: Special) -> [u32; LANES] {
        let Specials {
            block,
            grid,
            ctaid,
            static_shared,
            dynamic_shared,
        } = self.specials;
        let all = |value: u32| [value; LANES];
        let threads = block.iter().product::<u32>();
        let lane = |f: fn(u32) -> u32| std::array::from_fn(|lane| f(lane as u32));
        match special {
            Special::Tid(axis) => std::array::from_fn(|lane| self.thread(lane)[axis]),
            Special::Ntid(axis) => all(block[axis]),
            Special::Ctaid(axis) => all(ctaid[axis]),
            Special::Nctaid(axis) => all(grid[axis]),
            Special::LaneId => lane(|lane| lane),
            Special::WarpId => all(self.index),
            Special::NwarpId => all(threads.div_ceil(LANES as u32)),
            Special::LaneMaskEq => lane(|lane| 1 << lane),
            Special::LaneMaskLt => lane(|lane| (1 << lane) - 1),
            Special::LaneMaskLe => lane(|lane| u32::MAX >> (31 - lane)),
            Special::LaneMaskGt => lane(|lane| !(u32::MAX >> (31 - lane))),
            Special::LaneMaskGe => lane(|lane| u32::MAX << lane),
            Special::DynamicSharedSize => all(dynamic_shared),
            Special::TotalSharedSize => all(static_shared + dynamic_shared),
            Special::DynamicShared => all(static_shared.next_multiple_of(16)),
        }
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

    /// Choose the lanes to run next.
    fn select(&mut self, env: &Environment<'_>) -> Option<Group> {
        let runnable = self.live() & !self.parked & !self.waiting;
        if runnable == 0 {
            return self.select_waiting(env);
        }
        let others = runnable & !self.set_aside;
        if std::mem::take(&mut self.set_aside) != 0 && others != 0 {
            return Some(self.take_turns(runnable, others));
        }
        let first = runnable.trailing_zeros() as usize % LANES;
        let together = self.together(first, runnable);
        if together == runnable {
            return Some(Group {
                mask: runnable,
                pc: self.pcs[first],
                limit: u32::MAX,
            });
        }
        let depth = |lane: usize| self.activations[self.frames[lane] as usize].depth;
        let key = |&lane: &usize| (u32::MAX - depth(lane), self.pcs[lane], self.frames[lane]);
        let lane = lanes(runnable).min_by_key(key)?;
        let mask = self.together(lane, runnable);
        let others = lanes(runnable & !mask).filter(|&other| self.frames[other] == self.frames[lane]);
        let limit = others.map(|other| self.pcs[other]).min().unwrap_or(u32::MAX);
        Some(Group {
            mask,
            pc: self.pcs[lane],
            limit,
        })
    }

    /// A group other than the one set aside, each in its turn; it need not wait for others.
    fn take_turns(&mut self, runnable: u32, others: u32) -> Group {
        let ahead = others & u32::MAX.checked_shl(self.turn).unwrap_or(0);
        let lane = if ahead != 0 { ahead } else { others }.trailing_zeros() as usize % LANES;
        self.turn = (lane as u32 + 1) % LANES as u32;
        Group {
            mask: self.together(lane, runnable),
            pc: self.pcs[lane],
            limit: u32::MAX,
        }
    }

    /// The lanes of `among` at the same instruction of the same frame as a lane.
    fn together(&self, lane: usize, among: u32) -> u32 {
        let (pc, frame) = (self.pcs[lane], self.frames[lane]);
        let mut same = 0;
        for other in 0..LANES {
            same |= u32::from(self.pcs[other] == pc && self.frames[other] == frame) << other;
        }
        same & among
    }

    /// All lanes wait for others of the warp: find some whose partners are all there.
    fn select_waiting(&mut self, env: &Environment<'_>) -> Option<Group> {
        let waiting = self.waiting & self.live() & !self.parked;
        let mut left = waiting;
        while left != 0 {
            let lane = left.trailing_zeros() as usize % LANES;
            let mask = self.together(lane, waiting);
            let op = &env.context.code.instructions[self.pcs[lane] as usize].op;
            let members = self.members(lane, op);
            if self.ready(&members, mask) != 0 {
                self.waiting &= !mask;
                return Some(Group {
                    mask,
                    pc: self.pcs[lane],
                    limit: u32::MAX,
                });
            }
            if matches!(op, Op::WarpBarrier { .. }) && self.pass_warp_barriers(members[lane], waiting, env) {
                return self.select(env);
            }
            left &= !mask;
        }
        None
    }

    /// The member masks of a waiting lane's operation.
    fn members(&mut self, lane: usize, op: &Op) -> [u32; LANES] {
        self.registers.frame = self.activations[self.frames[lane] as usize].frame;
        op.member_mask().map_or([0; LANES], |slot| *self.registers.get32(slot))
    }

    /// `bar.warp.sync` may be several instructions in the several branches of a program.
    fn pass_warp_barriers(&mut self, members: u32, waiting: u32, env: &Environment<'_>) -> bool {
        let wanted = members & self.live();
        let at_barrier = |lane: &usize| {
            let op = env
                .context
                .code
                .instructions
                .get(self.pcs[*lane] as usize)
                .map(|at| &at.op);
            matches!(op, Some(Op::WarpBarrier { .. }))
        };
        let arrived = lanes(wanted & waiting)
            .filter(at_barrier)
            .fold(0, |all, lane| all | 1 << lane);
        if wanted == 0 || arrived != wanted {
            return false;
        }
        for lane in lanes(arrived) {
            self.pcs[lane] += 1;
        }
        self.waiting &= !arrived;
        true
    }
}

/// Is it still this warp's turn?
enum Turn {
    Goes,
    Over,
}
