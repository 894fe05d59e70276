//! Function calls: the arguments that go in, and the results that come out.

use super::flow::{Cell, Flow};
use super::program::Symbol;
use super::transfer::HARMLESS;
use super::value::Value;
use crate::ast::{Instruction, Operand};

/// The parts of a call. Vectors are passed part by part.
#[derive(Debug)]
pub(super) struct Call<'i> {
    pub(super) results: Vec<&'i Operand>,
    pub(super) target: &'i Operand,
    pub(super) arguments: Vec<&'i Operand>,
}

/// Takes `call (results), target, (arguments), prototype` apart.
pub(super) fn call_of(instruction: &Instruction) -> Option<Call<'_>> {
    let (results, rest) = match &instruction.operands[..] {
        [Operand::Vector(results), rest @ ..] => (&results[..], rest),
        rest => (&[][..], rest),
    };
    let (target, rest) = rest.split_first()?;
    let arguments = match rest.first() {
        Some(Operand::Vector(arguments)) => &arguments[..],
        _ => &[],
    };
    Some(Call {
        results: parts(results),
        target,
        arguments: parts(arguments),
    })
}

fn parts(operands: &[Operand]) -> Vec<&Operand> {
    let parts = operands.iter().flat_map(|operand| match operand {
        Operand::Vector(parts) => parts.as_slice(),
        other => std::slice::from_ref(other),
    });
    parts.collect()
}

impl Flow<'_, '_> {
    pub(super) fn transfer_call(&mut self, context: usize, index: u32, instruction: &Instruction) {
        let Some(call) = call_of(instruction) else { return };
        let arguments: Vec<Value> = call
            .arguments
            .iter()
            .map(|argument| self.content(context, argument))
            .collect();
        for target in self.targets(call.target, arguments.len()) {
            let callee = target.and_then(|function| self.callee(context, index, function));
            match callee {
                Some(callee) => self.transfer_known(context, callee, &call, &arguments),
                None => self.transfer_external(context, target, &call, &arguments),
            }
        }
    }

    fn transfer_known(&mut self, context: usize, callee: usize, call: &Call<'_>, arguments: &[Value]) {
        let prepared = std::rc::Rc::clone(&self.contexts[callee].prepared);
        for (&slot, &argument) in prepared.params.iter().zip(arguments) {
            self.join_slot(callee, slot, argument);
        }
        for (&slot, result) in prepared.results.iter().zip(&call.results) {
            let value = self.value_at(self.place(callee, slot));
            self.join_content(context, result, value);
        }
    }

    /// A function without code in this module may keep and store whatever it is given, unless it is known to be
    /// harmless.
    fn transfer_external(&mut self, context: usize, target: Option<usize>, call: &Call<'_>, arguments: &[Value]) {
        let mut result = Value::OPAQUE;
        if !self.is_harmless(target) {
            for &argument in arguments {
                let held = self.read(None, argument, None);
                self.join_cell(Cell::Device, argument);
                self.join_cell(Cell::Device, held);
                self.write(None, argument, None, Value::OPAQUE);
            }
            result.taint = self.sets.bits(self.cell(Cell::Device));
        }
        for operand in &call.results {
            self.join_content(context, operand, result);
        }
    }

    /// Whether it is a function of the CUDA library that leaves memory alone.
    pub(super) fn is_harmless(&self, target: Option<usize>) -> bool {
        target.is_some_and(|function| {
            let function = &self.program.module.functions[function];
            function.body.is_none() && HARMLESS.contains(&function.name.as_str())
        })
    }

    /// Returns the value of an argument: a register, or a `.param` variable.
    pub(super) fn content(&mut self, context: usize, operand: &Operand) -> Value {
        match self.slot(context, operand) {
            Some(slot) => self.value_at(self.place(context, slot)),
            None => self.operand(context, operand),
        }
    }

    fn join_content(&mut self, context: usize, operand: &Operand, value: Value) {
        if let Some(slot) = self.slot(context, operand) {
            self.join_slot(context, slot, value);
        }
    }

    fn slot(&self, context: usize, operand: &Operand) -> Option<u32> {
        match operand {
            Operand::Register(register) => Some(register.0),
            Operand::Symbol(name, _) => match self.contexts[context].prepared.symbols.get(name.as_str()) {
                Some(Symbol::Slot(slot)) => Some(*slot),
                _ => None,
            },
            _ => None,
        }
    }
}
