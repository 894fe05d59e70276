//! Conditional nodes and child graphs on the emulator.

use super::{EmulatorExecutable, Fault, Run, Touch};
use crate::program::{Conditional, ConditionalKind, Program};
use crate::shape::part::Part;
use graph_plan::{Draft, Mode};

impl EmulatorExecutable {
    /// Runs a conditional node, and returns the memory that it and its bodies touched.
    pub(super) fn conditional(
        &mut self,
        draft: &Draft,
        program: &Program,
        node: usize,
        conditional: &Conditional,
        run: &mut Run,
    ) -> Result<Touch, Fault> {
        let condition = conditional.condition();
        let mut touch = self.touch(&[(condition, Mode::Read)]);
        self.compare(draft, &touch, &self.others(node, run))
            .map_err(|message| (node, message))?;
        let is_while = conditional.kind == ConditionalKind::While;
        loop {
            let value = self.condition(condition).map_err(|message| (node, message))?;
            let Some(body) = conditional.chosen(value) else {
                return Ok(touch);
            };
            if is_while {
                self.count(run).map_err(|message| (node, message))?;
            }
            let outside = run.touched.len();
            self.body(draft, program, body, run)?;
            run.touched.drain(outside..).for_each(|(_, inner)| touch.merge(inner));
            if !is_while {
                return Ok(touch);
            }
        }
    }

    /// Runs the nodes of a child graph, and returns the memory that they touched.
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

    /// Reads the condition's value.
    fn condition(&self, condition: Part) -> Result<u32, String> {
        let mut value = [0; 4];
        let (memory, start) = self.device(condition.resource as usize)?;
        let read = memory.read(start + condition.start, &mut value);
        read.map(|()| u32::from_le_bytes(value))
            .map_err(|error| error.to_string())
    }

    /// Counts an iteration, and fails beyond the limit.
    fn count(&self, run: &mut Run) -> Result<(), String> {
        run.iterations += 1;
        let exceeded = self.options.iteration_limit.filter(|&limit| run.iterations > limit);
        exceeded.map_or(Ok(()), |limit| {
            Err(format!(
                "began more than {limit} iterations in one launch, the limit of the emulator's options: does its condition ever \
                 become 0?"
            ))
        })
    }
}

impl Touch {
    fn merge(&mut self, other: Touch) {
        std::sync::Arc::make_mut(&mut self.device).merge(&other.device);
        std::sync::Arc::make_mut(&mut self.host).merge(&other.host);
    }
}
