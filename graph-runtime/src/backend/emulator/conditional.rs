//! Conditional nodes and child graphs on the emulator.

use super::{Executable, Fault, Run, Touch};
use crate::program::{Conditional, Program};
use crate::shape::part::Part;
use graph_plan::{Draft, Mode, NodeKind};

impl Executable {
    /// Runs a conditional node. What its bodies touch belongs to it, once they have run.
    pub(super) fn conditional(
        &mut self,
        draft: &Draft,
        program: &Program,
        node: usize,
        conditional: &Conditional,
        run: &mut Run,
    ) -> Result<Touch, Fault> {
        let mut touch = self.touch(&[(conditional.condition, Mode::Read)]);
        self.compare(draft, &touch, &self.others(node, run))
            .map_err(|message| (node, message))?;
        let repeats = draft.nodes[node].kind == NodeKind::While;
        loop {
            let value = self
                .condition(conditional.condition)
                .map_err(|message| (node, message))?;
            let chosen = match (draft.nodes[node].kind, value) {
                (NodeKind::Switch, value) => value as usize,
                (NodeKind::While, 0) => return Ok(touch),
                (_, 0) => 1,
                _ => 0,
            };
            let Some(&body) = conditional.bodies.get(chosen) else {
                return Ok(touch);
            };
            if repeats {
                self.count(run).map_err(|message| (node, message))?;
            }
            let outside = run.touched.len();
            self.body(draft, program, body, run)?;
            run.touched.drain(outside..).for_each(|(_, inner)| touch.merge(inner));
            if !repeats {
                return Ok(touch);
            }
        }
    }

    /// Runs the nodes of a child graph. What they touch belongs to its node, once they have run.
    pub(super) fn child(
        &mut self,
        draft: &Draft,
        program: &Program,
        body: usize,
        run: &mut Run,
    ) -> Result<Touch, Fault> {
        let outside = run.touched.len();
        self.body(draft, program, body, run)?;
        let mut touch = Touch::default();
        run.touched.drain(outside..).for_each(|(_, inner)| touch.merge(inner));
        Ok(touch)
    }

    /// The condition's value.
    fn condition(&self, condition: Part) -> Result<u32, String> {
        let mut value = [0; 4];
        let (memory, start) = self.device(condition.resource as usize)?;
        let read = memory.read(start + condition.start, &mut value);
        read.map(|()| u32::from_le_bytes(value))
            .map_err(|error| error.to_string())
    }

    /// Counts an iteration.
    fn count(&self, run: &mut Run) -> Result<(), String> {
        run.iterations += 1;
        match self.options.iteration_limit {
            Some(limit) if run.iterations > limit => Err(format!(
                "began more than {limit} iterations in one launch, the limit of the emulator's options: does its condition ever \
                 become 0?"
            )),
            _ => Ok(()),
        }
    }
}

impl Touch {
    fn merge(&mut self, other: Touch) {
        std::sync::Arc::make_mut(&mut self.device).merge(&other.device);
        std::sync::Arc::make_mut(&mut self.host).merge(&other.host);
    }
}
