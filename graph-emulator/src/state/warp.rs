//! The state of a warp: the position of each lane, and the barrier or the lanes that it waits for.

use super::context::Context;
use super::local::Local;
use super::mask::{FULL, LANES, first, lanes};
use super::registers::{Frame, Registers};
use super::special::Specials;
use crate::code::Special;

/// A frame in use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Activation {
    /// The frame of the caller; the kernel's frame is its own parent.
    pub(crate) parent: u32,
    /// The call instruction.
    pub(crate) site: u32,
    pub(crate) function: u32,
    pub(crate) depth: u32,
    pub(crate) frame: Frame,
}

/// A warp.
pub(crate) struct Warp {
    pub(crate) registers: Registers,
    pub(crate) local: Local,
    pub(crate) pcs: [u32; LANES],
    /// The frame of each lane, an index into `activations`.
    pub(crate) frames: [u32; LANES],
    pub(crate) activations: Vec<Activation>,
    exists: u32,
    pub(crate) exited: u32,
    /// Lanes that wait at a barrier of the block.
    pub(crate) parked: u32,
    /// Lanes that wait for other lanes of the warp.
    pub(crate) waiting: u32,
    /// The lanes whose turn has ended, so that other lanes go first.
    pub(crate) set_aside: u32,
    pub(crate) turn: u32,
    /// The frame that is executing.
    pub(crate) current: u32,
    specials: Specials,
}

impl Warp {
    /// A warp of a kernel, to be used for one block after another.
    pub(crate) fn new(context: &Context<'_>, index: u32) -> Warp {
        let kernel = context.function();
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
            registers: Registers::of_warp(context.block, index),
            local: Local::default(),
            pcs: [0; LANES],
            frames: [0; LANES],
            activations: vec![activation],
            exists: if count == 32 { FULL } else { (1 << count) - 1 },
            exited: 0,
            parked: 0,
            waiting: 0,
            set_aside: 0,
            turn: 0,
            current: 0,
            specials: Specials {
                warp: index,
                block: context.block,
                grid: context.grid,
                ctaid: [0; 3],
                cluster: context.cluster,
                explicit_cluster: context.explicit_cluster,
                static_shared: kernel.shared,
                dynamic_shared: context.dynamic_shared,
                workspace: context.workspace,
            },
        };
        warp.local.reserve(kernel.frame.local);
        warp
    }

    /// Begins a block.
    pub(crate) fn reset(&mut self, context: &Context<'_>, ctaid: [u32; 3]) {
        let kernel = context.function();
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

    /// The program counter of all 32 lanes, if it is the same, they are in the kernel's own frame and none waits.
    pub(crate) fn in_step(&self) -> Option<u32> {
        let waits = self.parked | self.waiting;
        let differs = self.pcs.iter().fold(0, |differs, pc| differs | (pc ^ self.pcs[0]));
        let called = self.frames.iter().fold(0, |called, frame| called | frame);
        (self.live() == FULL && waits | differs | called == 0).then_some(self.pcs[0])
    }

    /// Its index in the block.
    pub(crate) fn index(&self) -> usize {
        self.specials.warp as usize
    }

    /// `%tid` of a lane.
    pub(crate) fn thread(&self, lane: usize) -> [u32; 3] {
        self.specials.thread(lane)
    }

    /// The value of a special register in each lane.
    pub(crate) fn special(&self, special: Special) -> [u32; LANES] {
        self.specials.value(special)
    }

    /// Lanes that have not exited.
    pub(crate) fn live(&self) -> u32 {
        self.exists & !self.exited
    }

    /// Whether a lane of this warp can go on, or waits only for other lanes of the warp.
    pub(crate) fn runnable(&self) -> bool {
        self.live() & !self.parked != 0
    }

    pub(crate) fn set_pcs(&mut self, mask: u32, pc: u32) {
        for lane in 0..LANES {
            self.pcs[lane] = if mask >> lane & 1 != 0 { pc } else { self.pcs[lane] };
        }
    }

    /// The program counter and the frame of a lane.
    pub(crate) fn position(&self, lane: usize) -> (u32, Frame) {
        (self.pcs[lane], self.activations[self.frames[lane] as usize].frame)
    }

    pub(crate) fn push_activation(&mut self, activation: Activation) -> u32 {
        self.activations.push(activation);
        self.activations.len() as u32 - 1
    }

    /// Forgets the latest activations that no lane is in.
    pub(crate) fn pop_activations(&mut self) {
        let live = self.live();
        let highest = lanes(live).map(|lane| self.frames[lane]).max().unwrap_or(0);
        self.activations.truncate(highest as usize + 1);
    }

    /// Moves lanes to a frame.
    pub(crate) fn move_to(&mut self, mask: u32, activation: u32, pc: u32) {
        self.set_pcs(mask, pc);
        for lane in lanes(mask) {
            self.frames[lane] = activation;
        }
    }

    /// The first lane that has not exited, and its program counter.
    pub(crate) fn first_live(&self) -> (usize, u32) {
        let lane = first(self.live());
        (lane, self.pcs[lane])
    }
}
