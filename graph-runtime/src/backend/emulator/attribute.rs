//! Attributes of kernel nodes on the emulator. It runs each block of a cluster by itself, which makes no difference to
//! kernels that do not use their cluster; other kernels are refused. The blocks of a cooperative launch take turns.

use crate::backend::blueprint::Blueprint;
use crate::error::{Error, Result, Site};
use crate::program::{KernelOp, Op, Program};
use graph_emulator::MAX_TOGETHER;
use graph_plan::Draft;

/// The PTX of features that only kernels that use their cluster need: its registers, its barrier, addresses in other
/// blocks, and copies to several blocks.
const USES: [&str; 6] = [
    "%cluster",
    "%ncluster",
    "barrier.cluster",
    "mapa.",
    "getctarank",
    "multicast::cluster",
];

/// Refuses nodes that the emulator cannot launch with their attributes.
pub(super) fn check(blueprint: &Blueprint<'_>) -> Result<()> {
    let ops = blueprint.program.ops.iter().enumerate();
    let mut kernels = ops.filter_map(|(node, op)| {
        let Op::Kernel(kernel) = op else { return None };
        Some((node, kernel))
    });
    kernels.try_for_each(|(node, kernel)| check_node(blueprint.draft, blueprint.program, node, kernel))
}

/// Refuses one such node.
pub(super) fn check_node(draft: &Draft, program: &Program, node: usize, kernel: &KernelOp) -> Result<()> {
    misfit(program, kernel).map_or(Ok(()), |message| {
        Err(Error::Kernel {
            site: Site::graph(&draft.name).at_node(&draft.nodes[node].name),
            kernel: program.functions[kernel.function as usize].facts.name,
            message,
        })
    })
}

fn misfit(program: &Program, kernel: &KernelOp) -> Option<String> {
    let blocks = kernel.config.blocks();
    if kernel.is_cooperative() && blocks > MAX_TOGETHER.into() {
        return Some(format!(
            "is launched cooperatively in {blocks} blocks, but the emulator has room for {MAX_TOGETHER} at the same time"
        ));
    }
    let clustered = kernel.cluster().is_some_and(|blocks| blocks != [1; 3]);
    (clustered && uses_clusters(program, kernel.function))
        .then(|| "runs in clusters of several blocks and uses them, which the emulator does not have".to_owned())
}

/// Whether the kernel uses its cluster, or may call a function of its module that does.
fn uses_clusters(program: &Program, function: u32) -> bool {
    let function = &program.functions[function as usize];
    function.module().is_some_and(|module| {
        let text = program.modules[module].text;
        let body = body(text, function.facts.entry);
        let called = body.is_none_or(|body| body.contains("call"));
        let text = body.filter(|_| !called).unwrap_or(text);
        USES.iter().any(|word| text.contains(word))
    })
}

/// The text of a kernel, up to the next kernel or function. `None` if it was not found.
fn body<'a>(text: &'a str, entry: &str) -> Option<&'a str> {
    let mut parts = text.split(".entry").skip(1);
    let own = parts.find(|part| {
        part.trim_start()
            .strip_prefix(entry)
            .is_some_and(|rest| rest.trim_start().starts_with('('))
    })?;
    own.split(".func").next()
}

#[cfg(test)]
mod tests {
    use super::body;

    #[test]
    fn the_text_of_a_kernel_ends_where_the_next_begins() {
        let text =
            ".visible .entry ab(.param) { one }\n.visible .entry a (.param) { two }\n.func f { three } .entry c() {}";
        assert!(body(text, "a").is_some_and(|body| body.contains("two") && !body.contains("three")));
        assert!(body(text, "ab").is_some_and(|body| body.contains("one") && !body.contains("two")));
        assert_eq!(body(text, "b"), None);
    }
}
