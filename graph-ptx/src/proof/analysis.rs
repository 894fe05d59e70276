//! One run of the analysis over a kernel.

use super::flow::Flow;
use super::machine::{Machine, TooLarge};
use super::{Effort, Gap, Kernel, Reason};
use crate::ast::Module;

/// Runs the analysis. Returns the machine with the obligations that are open.
pub(super) fn open<'m>(module: &'m Module, kernel: &'m Kernel, effort: &Effort) -> Result<Machine<'m>, Reason> {
    let missing = |gap: Gap, line: u32| Reason { line, gap };
    let function = module
        .functions
        .iter()
        .find(|function| function.entry && function.name == kernel.entry && function.body.is_some());
    let function = function.ok_or(missing(Gap::Missing, 1))?;
    let body = function.code().ok_or(missing(Gap::Missing, function.line))?;
    let line = |index: usize| body.instructions.get(index).map_or(function.line, |known| known.line);
    let flow = Flow::of(body).map_err(|index| missing(Gap::Branches, line(index)))?;
    let mut machine =
        Machine::new(module, function, body, kernel, flow, effort).ok_or(missing(Gap::TooLarge, function.line))?;
    match machine.run_kernel() {
        Ok(()) => super::unwritten::check(&mut machine),
        // A witness may be found all the same.
        Err(TooLarge) => {
            machine.checks = true;
            machine.leave_open(0, Gap::TooLarge);
        }
    }
    Ok(machine)
}
