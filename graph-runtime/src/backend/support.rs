//! What one kind of device cannot do, or not with what it is given.

use super::{Backend, Blueprint};
use crate::error::{Error, Result, Site};
use crate::program::Op;

/// Refuses nodes that this device cannot have.
pub(super) fn check(backend: &Backend, blueprint: &Blueprint<'_>) -> Result<()> {
    let draft = blueprint.draft;
    let refusal = |(node, op): (usize, &Op)| {
        let message = misfit(backend, op)?;
        let site = Site::graph(&draft.name).at_node(&draft.nodes[node].name);
        Some(Error::Unsupported { site, message })
    };
    let mut refusals = blueprint.program.others().filter_map(refusal);
    refusals.next().map_or(Ok(()), Err)
}

fn misfit(backend: &Backend, op: &Op) -> Option<&'static str> {
    match op {
        Op::Record(event) | Op::Wait(event) => event.misfit(backend),
        Op::Capture(_) if matches!(backend, Backend::Emulator(_)) => {
            Some("library calls are captured from a stream of a CUDA device, and the CPU emulator has none")
        }
        Op::Raw(_) if matches!(backend, Backend::Emulator(_)) => {
            Some("a `raw` node is made by calls of the CUDA driver, and needs a CUDA device")
        }
        _ => None,
    }
}
