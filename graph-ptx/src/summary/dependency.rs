//! The instructions that can run before `griddepcontrol.wait`, or without it, and those that can run after
//! `griddepcontrol.launch_dependents`: walks over the kernel and the functions that it calls. The first stops at waits.

use std::collections::HashSet;
use std::rc::Rc;

use super::blocks::Exit;
use super::call::call_of;
use super::flow::Flow;
use super::program::Prepared;
use crate::ast::Instruction;

/// The instructions that a walk reaches, by the contexts of the flow.
#[derive(Debug)]
pub(super) struct Reached {
    /// Whether the walk began at triggers, and not at the kernel's beginning.
    triggered: bool,
    /// By context and instruction: whether the walk has been there.
    reached: Vec<Vec<bool>>,
    /// By context: whether control may come back to the callers.
    returns: Vec<bool>,
    /// By context: whether a branch has an unknown target.
    lost: Vec<bool>,
    /// The line of the first way out of the kernel.
    pub(super) exit: Option<u32>,
    /// The target lists, by context and address, that the walk has followed: many branches may share a long one.
    followed: HashSet<(usize, *const usize)>,
    /// The instructions, with their contexts, from which the walk has yet to go on.
    pending: Vec<(usize, usize)>,
}

/// Whether it is `griddepcontrol.wait`, guarded or not.
pub(super) fn is_wait(instruction: &Instruction) -> bool {
    instruction.opcode == "griddepcontrol" && instruction.has("wait")
}

/// Whether it is `griddepcontrol.launch_dependents`, guarded or not.
fn is_trigger(instruction: &Instruction) -> bool {
    instruction.opcode == "griddepcontrol" && instruction.has("launch_dependents")
}

impl Reached {
    /// Walks from the beginning of the kernel, the first context of a finished analysis, to its waits.
    pub(super) fn early(flow: &mut Flow<'_, '_>) -> Self {
        Self::walk_from(flow, vec![(0, 0)], false)
    }

    /// Walks from each trigger of a finished analysis to the ends of the kernel.
    pub(super) fn triggered(flow: &mut Flow<'_, '_>) -> Self {
        let contexts = flow.contexts.iter().enumerate();
        let after = contexts.flat_map(|(context, known)| {
            let instructions = known.prepared.body.instructions.iter().enumerate();
            let triggers = instructions.filter(|(_, instruction)| is_trigger(instruction));
            triggers.map(move |(index, _)| (context, index + 1))
        });
        let after = after.collect();
        Self::walk_from(flow, after, true)
    }

    fn walk_from(flow: &mut Flow<'_, '_>, pending: Vec<(usize, usize)>, triggered: bool) -> Self {
        let instructions = |prepared: &Prepared<'_>| vec![false; prepared.body.instructions.len()];
        let mut walk = Self {
            triggered,
            reached: flow
                .contexts
                .iter()
                .map(|context| instructions(&context.prepared))
                .collect(),
            returns: vec![false; flow.contexts.len()],
            lost: vec![false; flow.contexts.len()],
            exit: None,
            followed: HashSet::new(),
            pending,
        };
        while let Some((context, instruction)) = walk.pending.pop() {
            walk.walk(flow, context, instruction);
        }
        walk
    }

    /// Whether the walk has reached the instruction.
    pub(super) fn contains(&self, context: usize, instruction: usize) -> bool {
        self.reached[context][instruction]
    }

    /// Walks from an instruction on, until it meets one where the walk has been, or control goes elsewhere.
    fn walk(&mut self, flow: &mut Flow<'_, '_>, context: usize, start: usize) {
        let prepared = Rc::clone(&flow.contexts[context].prepared);
        let instructions = &prepared.body.instructions;
        for (index, instruction) in instructions.iter().enumerate().skip(start) {
            if std::mem::replace(&mut self.reached[context][index], true) {
                return;
            }
            let ends = match &prepared.exits[index] {
                Exit::Next if is_wait(instruction) => !self.triggered,
                Exit::Next if instruction.opcode == "call" => !self.call(flow, context, index, instruction),
                Exit::Next => false,
                Exit::Jump(places) => {
                    if self.followed.insert((context, places.as_ptr())) {
                        self.pending.extend(places.iter().map(|&place| (context, place)));
                    }
                    true
                }
                Exit::Return => {
                    self.leave(flow, context, instruction);
                    true
                }
                Exit::Unknown => {
                    if !std::mem::replace(&mut self.lost[context], true) {
                        self.pending
                            .extend((0..=instructions.len()).map(|place| (context, place)));
                    }
                    true
                }
            };
            if ends && instruction.guard.is_none() {
                return;
            }
        }
        let line = instructions.last().map_or(prepared.function.line, |last| last.line);
        self.come_back(flow, context, line);
    }

    /// Walks into the functions that an instruction calls. Returns whether control may pass the call.
    fn call(&mut self, flow: &mut Flow<'_, '_>, context: usize, index: usize, instruction: &Instruction) -> bool {
        let Some(call) = call_of(instruction) else { return true };
        let number = u32::try_from(index).unwrap_or(u32::MAX);
        let mut passes = false;
        for target in flow.targets(call.target, call.arguments.len()) {
            match target.and_then(|function| flow.called(context, number, function)) {
                Some(callee) => {
                    self.pending.push((callee, 0));
                    passes |= self.returns[callee];
                }
                // Code that is not in this module is taken not to wait.
                None => passes = true,
            }
        }
        passes
    }

    /// Leaves a function: `ret` goes back to the callers, `exit` ends the thread, `trap` the program.
    fn leave(&mut self, flow: &Flow<'_, '_>, context: usize, instruction: &Instruction) {
        match instruction.opcode.as_str() {
            "ret" => self.come_back(flow, context, instruction.line),
            "exit" => self.end(instruction.line),
            _ => {}
        }
    }

    /// Goes on after each call of the function that control leaves: from the kernel's beginning, a walk has reached the
    /// call before; from a trigger in the function, it need not have.
    fn come_back(&mut self, flow: &Flow<'_, '_>, context: usize, line: u32) {
        if context == 0 {
            self.end(line);
        }
        if std::mem::replace(&mut self.returns[context], true) {
            return;
        }
        for &(caller, call) in &flow.contexts[context].callers {
            if self.triggered || self.reached[caller][call as usize] {
                self.pending.push((caller, call as usize + 1));
            }
        }
    }

    fn end(&mut self, line: u32) {
        self.exit = Some(self.exit.map_or(line, |known| known.min(line)));
    }
}
