//! Random numbers: which nodes may use them, and which values may seed them.

use super::Graph;
use crate::graph::ast::{Place, Resource};
use crate::graph::constant::value;
use crate::report::{Report, error};
use graph_plan::{Code, Diagnostic, Mode, NodeKind};

/// The mistake of a node that uses an `rng` otherwise than as a kernel that reads its state.
pub(super) fn misuse(graph: &Graph<'_>, node: usize, place: &Place, resource: usize, mode: Mode) -> Option<Diagnostic> {
    graph.resources[resource].random.as_ref()?;
    let (node, name) = (&graph.draft.nodes[node], &place.name);
    let help = format!("pass `&{name}` to a kernel that takes it as `&[graph_runtime::Philox]`");
    let message = if node.kind != NodeKind::Kernel || !place.parts.is_empty() {
        format!("`{name}` is an `rng`, which only kernels can use, and only as a whole")
    } else if mode.writes() {
        format!(
            "node `{}` gets the `rng` `{name}` as `&mut`, but it advances by itself",
            node.name
        )
    } else {
        return None;
    };
    let code = if mode.writes() && place.parts.is_empty() && node.kind == NodeKind::Kernel {
        Code::Access
    } else {
        Code::WrongMemory
    };
    Some(error(code, message).help(help))
}

/// Reports an `rng` that draws nothing.
pub(super) fn draws(resource: &Resource, report: &mut Report) {
    let Some(random) = &resource.random else { return };
    if value(&random.draws) == Some(0) {
        let message = format!(
            "`{}` draws no numbers, so all its uses would get the same",
            resource.name
        );
        let help = "say how many numbers a thread draws at most at each use: `draws 4`";
        report.push_at(&random.draws, &error(Code::Syntax, message).help(help));
    }
}
