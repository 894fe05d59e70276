//! The errors of debug mode: the node, its kernel with launch and arguments, the loops around it, and CUDA's log.

use super::{Run, Steps};
use crate::backend::cuda::add::Address;
use crate::driver;
use crate::error::{CudaError, Error, Site};
use crate::program::{Argument, KernelOp};
use graph_plan::NodeKind;
use std::fmt::Write;
use std::time::Duration;

/// The most arguments of a kernel that an error lists.
const MAX_ARGUMENTS: usize = 16;

/// The error of a launch or of one of its nodes.
#[cold]
pub(super) fn fault(site: Site, message: String) -> Error {
    Error::Fault { site, message }
}

/// The error of a node that CUDA could not launch, or that failed while it ran.
#[cold]
pub(super) fn failed(debug: &Steps<'_>, run: &Run<'_>, node: usize, error: CudaError) -> Error {
    let mut message = format!("{} failed: {} ({})", subject(run, node), error.name(), error.code());
    if let Some(meaning) = meaning(error.code()) {
        message.push_str(": ");
        message.push_str(meaning);
    }
    explain(&mut message, debug, run, node);
    if debug.state.over {
        message.push_str("\nnote: after such an error, every later call of CUDA in this process fails");
    }
    fault(run.site(node), message)
}

/// The error of a node that has written what it must not.
#[cold]
pub(super) fn wrong_result(debug: &Steps<'_>, run: &Run<'_>, node: usize, finding: &str) -> Error {
    let mut message = format!("{} {finding}", subject(run, node));
    explain(&mut message, debug, run, node);
    fault(run.site(node), message)
}

/// The error of a node that takes longer than the limit.
#[cold]
pub(super) fn late(debug: &Steps<'_>, run: &Run<'_>, node: usize, limit: Duration) -> Error {
    let mut message = format!(
        "{} has run for {limit:?}, the time limit of debug mode, and has not ended",
        subject(run, node)
    );
    explain(&mut message, debug, run, node);
    message.push_str(
        "\nnote: CUDA cannot end it, so every later use of this device in this process fails\n\
         help: if it needs more time, set `DebugOptions::time_limit`, or `CUDA_GRAPH_DEBUG_TIMEOUT` (seconds)",
    );
    fault(run.site(node), message)
}

/// The error of a `while` that begins more iterations than the limit.
#[cold]
pub(super) fn endless(run: &Run<'_>, node: usize, limit: u64) -> Error {
    let mut message = format!(
        "began more than {limit} iterations in one launch, the limit of debug mode: does its condition ever become 0?"
    );
    note_loops(&mut message, run);
    message.push_str("\nhelp: if it needs more, set `DebugOptions::iteration_limit`, or `CUDA_GRAPH_DEBUG_ITERATIONS`");
    fault(run.site(node), message)
}

/// ``kernel `scale` `` or `the memcpy`.
fn subject(run: &Run<'_>, node: usize) -> String {
    match run.program.ops[node].kernel() {
        Some(kernel) => {
            let facts = run.program.functions[kernel.function as usize].facts;
            format!("kernel `{}`", facts.name)
        }
        None => format!("the {}", run.draft.nodes[node].kind.keyword()),
    }
}

/// The meaning of CUDA's errors of kernels.
fn meaning(code: u32) -> Option<&'static str> {
    Some(match code {
        700 => "it accessed an address where no memory is, far out of bounds or through a null pointer",
        710 => "a device-side `assert` failed",
        714 => "its call stack or its stack pointer is damaged",
        715 => "it executed an invalid instruction, or `trap`",
        716 => "it accessed an address that is not aligned for the access",
        717 => "it accessed an address of another address space than the instruction's",
        718 => "it jumped to an address where no instruction is",
        719 => "it executed `trap`, or was ended by another exception",
        _ => return None,
    })
}

/// Adds notes about launch, arguments and loops, and CUDA's own lines.
fn explain(message: &mut String, debug: &Steps<'_>, run: &Run<'_>, node: usize) {
    if let Some(kernel) = run.program.ops[node].kernel() {
        let ([gx, gy, gz], [bx, by, bz]) = (kernel.config.grid, kernel.config.block);
        let _ = write!(
            message,
            "\nnote: it was launched as `<<<({gx}, {gy}, {gz}), ({bx}, {by}, {bz})"
        );
        if kernel.config.shared != 0 {
            let _ = write!(message, ", {}", kernel.config.shared);
        }
        message.push_str(">>>`");
        note_arguments(message, debug, run, kernel);
    }
    note_loops(message, run);
    for line in driver::driver_log::take() {
        let _ = write!(message, "\nnote: CUDA's log: {line}");
    }
}

/// ``note: its arguments: `out`: 64 bytes of `data`, at 0x7f0000000000; `n`: 0x10``
fn note_arguments(message: &mut String, debug: &Steps<'_>, run: &Run<'_>, kernel: &KernelOp) {
    let facts = run.program.functions[kernel.function as usize].facts;
    let arguments = run.program.arguments(kernel);
    let mut separator = "\nnote: its arguments: ";
    for (index, argument) in arguments.iter().enumerate().take(MAX_ARGUMENTS) {
        message.push_str(separator);
        separator = "; ";
        match facts.params.get(index) {
            Some(param) => {
                let _ = write!(message, "`{}`: ", param.name);
            }
            None => {
                let _ = write!(message, "number {index}: ");
            }
        }
        let _ = match argument {
            Argument::Buffer {
                resource, start, bytes, ..
            } => {
                let name = &run.draft.resources[*resource as usize].name;
                let first = match debug.parts.adder.resources[*resource as usize] {
                    Address::Device(base) => base + *start as u64,
                    Address::Host(_) | Address::Array(..) | Address::Module => 0,
                };
                write!(message, "{bytes} bytes of `{name}`, at {first:#x}")
            }
            Argument::Value(value) => match value.bytes() {
                bytes if bytes.len() <= 8 => {
                    let number = bytes
                        .iter()
                        .rev()
                        .fold(0, |number, &byte| number << 8 | u64::from(byte));
                    write!(message, "{number:#x}")
                }
                bytes => write!(message, "{} bytes", bytes.len()),
            },
        };
    }
    if arguments.len() > MAX_ARGUMENTS {
        let _ = write!(message, "; and {} more", arguments.len() - MAX_ARGUMENTS);
    }
}

/// ``note: in iteration 3 of the while `train`, in the if `warm` ``, from the innermost.
fn note_loops(message: &mut String, run: &Run<'_>) {
    let mut separator = "\nnote: it is in ";
    for around in run.around.iter().rev() {
        let node = &run.draft.nodes[around.node];
        message.push_str(separator);
        separator = ", in ";
        if let Some(iteration) = around.iteration {
            let _ = write!(message, "iteration {iteration} of ");
        }
        let kind: NodeKind = node.kind;
        let _ = write!(message, "the `{}` node `{}`", kind.keyword(), node.name);
    }
}
