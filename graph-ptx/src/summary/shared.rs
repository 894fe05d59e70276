//! The size of the shared memory that a kernel declares.

use std::collections::BTreeSet;

use super::flow::Flow;
use crate::ast::{Base, Operand, Space, Variable, each_leaf};

/// The bytes of `.shared` variables with a size: those of the analysed functions, and the module's variables that they
/// name.
pub(super) fn static_shared(flow: &Flow<'_, '_>) -> u64 {
    let module = flow.program.module;
    let (mut functions, mut named) = (BTreeSet::new(), BTreeSet::new());
    for context in &flow.contexts {
        let line = context.prepared.function.line;
        if !functions.insert((line, context.prepared.function.name.as_str())) {
            continue;
        }
        for instruction in &context.prepared.body.instructions {
            each_leaf(&instruction.operands, &mut |leaf| {
                if let Operand::Symbol(name, _) | Operand::Address(Base::Symbol(name), _) = leaf {
                    named.extend(flow.program.variable(name));
                }
            });
        }
    }
    let mut seen = BTreeSet::new();
    let mut bytes = named.iter().map(|&index| &module.variables[index]).fold(0, lay_out);
    for context in &flow.contexts {
        if seen.insert((context.prepared.function.line, context.prepared.function.name.as_str())) {
            bytes = context.prepared.body.variables.iter().fold(bytes, lay_out);
        }
    }
    bytes
}

/// The end of `variable` when it is laid out after `offset`.
fn lay_out(offset: u64, variable: &Variable) -> u64 {
    if variable.space != Space::Shared || variable.size == 0 {
        return offset;
    }
    let align = u64::from(variable.align.max(1));
    offset
        .div_ceil(align)
        .saturating_mul(align)
        .saturating_add(variable.size)
}
