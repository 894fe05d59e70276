//! Attributes of kernel nodes on the emulator. The blocks of a cluster take turns, and so do all blocks of a
//! cooperative launch.

use crate::error::{Error, Result, Site};
use crate::ownership::blueprint::Blueprint;
use crate::program::{KernelOp, Program};
use graph_emulator::MAX_TOGETHER;
use graph_plan::Draft;

/// Refuses nodes that the emulator cannot launch with their attributes.
pub(super) fn check(blueprint: &Blueprint<'_>) -> Result<()> {
    let ops = blueprint.program.ops.iter().enumerate();
    let mut kernels = ops.filter_map(|(node, op)| Some((node, op.kernel()?)));
    kernels.try_for_each(|(node, kernel)| check_node(blueprint.draft, blueprint.program, node, kernel))
}

/// Refuses one such node.
pub(super) fn check_node(draft: &Draft, program: &Program, node: usize, kernel: &KernelOp) -> Result<()> {
    misfit(kernel).map_or(Ok(()), |message| {
        Err(Error::Kernel {
            site: Site::graph(&draft.name).at_node(&draft.nodes[node].name),
            kernel: program.functions[kernel.function as usize].facts.name,
            message,
        })
    })
}

fn misfit(kernel: &KernelOp) -> Option<String> {
    let blocks = kernel.config.blocks();
    (kernel.is_cooperative() && blocks > MAX_TOGETHER.into()).then(|| {
        format!(
            "is launched cooperatively in {blocks} blocks, but the emulator has room for {MAX_TOGETHER} at the same time"
        )
    })
}
