//! Calls and returns. A call stack is a chain of frames that lanes share. Lanes of one warp may be in different frames
//! that use the same registers, since each lane has its own column of them.

use super::{Environment, Flow};
use crate::code::{Call, Callee, Code, FrameSize, Jump, Op};
use crate::fault::{FaultKind, InLane, LaneFault, LoadError};
use crate::state::{Activation, LANES, Warp, first, lanes_where};

/// The most register slots, and the most frames, of a warp. This bounds recursion.
const MAX_SLOTS: u32 = 1 << 16;

impl Warp {
    /// Enters a function, or runs one that the emulator provides.
    pub(crate) fn call(
        &mut self,
        call: &Call,
        mask: u32,
        pc: u32,
        env: &mut Environment<'_>,
    ) -> Result<Flow, LaneFault> {
        let code = env.context.code;
        let lane = first(mask);
        match call.target {
            Callee::Builtin(builtin) => {
                self.builtin(builtin, call, mask, env)?;
                Ok(Flow::Next)
            }
            Callee::Function(function) => self.enter(call, function, mask, pc, code).in_lane(lane),
            Callee::Indirect(slot) => {
                let targets = *self.registers.get64(slot);
                let same = lanes_where(mask, |other| targets[other] == targets[lane]);
                let invalid = || LaneFault::new(lane, FaultKind::InvalidTarget(targets[lane]));
                let function = code.function_at(targets[lane]).ok_or_else(invalid)?;
                self.set_pcs(mask & !same, pc);
                self.enter(call, function, same, pc, code).in_lane(lane)
            }
        }
    }

    fn enter(&mut self, call: &Call, function: u32, mask: u32, pc: u32, code: &Code) -> Result<Flow, FaultKind> {
        let callee = &code.functions[function as usize];
        if let Some(error) = &callee.refused {
            return Err(FaultKind::Unsupported(Box::new(LoadError::clone(error))));
        }
        if callee.params.len() != call.arguments.len() || callee.results.len() < call.results.len() {
            return Err(FaultKind::InvalidTarget(function.into()));
        }
        let caller = self.current;
        let activation = self.activation(caller, pc, function, code);
        let (above, frame) = (self.registers.frame, self.activations[activation as usize].frame);
        let end = frame.after(callee.frame);
        let slots = end.r32.max(end.r64).max(end.predicates).max(activation);
        if slots > MAX_SLOTS || !self.local.reserve(end.local) {
            return Err(FaultKind::StackOverflow);
        }
        self.registers.frame = frame;
        self.fill_constants(callee, mask);
        for (&from, &to) in call.arguments.iter().zip(&callee.params) {
            self.pass(mask, (above, from), (frame, to));
        }
        self.registers.frame = frame;
        self.move_to(mask, activation, callee.start);
        Ok(Flow::Split)
    }

    /// The frame for a call. Lanes that made the same call before may already be in it.
    fn activation(&mut self, parent: u32, site: u32, function: u32, code: &Code) -> u32 {
        let same = |entry: &Activation| (entry.parent, entry.site, entry.function) == (parent, site, function);
        let recent = self.activations.iter().enumerate().rev().take(LANES);
        if let Some((index, _)) = recent.filter(|&(index, _)| index != 0).find(|(_, entry)| same(entry)) {
            return index as u32;
        }
        let above = self.activations[parent as usize];
        let size: FrameSize = code.functions[above.function as usize].frame;
        let (depth, frame) = (above.depth + 1, above.frame.after(size));
        self.push_activation(Activation {
            parent,
            site,
            function,
            depth,
            frame,
        })
    }

    /// Returns to the caller, or leaves the kernel.
    pub(crate) fn ret(&mut self, mask: u32, env: &mut Environment<'_>) -> Flow {
        let current = self.current;
        if current == 0 {
            return self.leave(mask, env);
        }
        let code = env.context.code;
        let Activation {
            parent,
            site,
            function,
            frame,
            ..
        } = self.activations[current as usize];
        let above = self.activations[parent as usize].frame;
        if let Some(Op::Jump(Jump::Call(call))) = code.instructions.get(site as usize).map(|at| &at.op) {
            for (&to, &from) in call.results.iter().zip(&code.functions[function as usize].results) {
                self.pass(mask, (frame, from), (above, to));
            }
        }
        self.move_to(mask, parent, site + 1);
        self.pop_activations();
        Flow::Split
    }

    /// Ends the lanes of `mask`; no barrier waits for them any more.
    pub(crate) fn leave(&mut self, mask: u32, env: &mut Environment<'_>) -> Flow {
        self.exited |= mask;
        env.barriers.exit(mask.count_ones());
        Flow::Split
    }
}
