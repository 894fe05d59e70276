//! Enabling and disabling nodes: the checks.

use crate::error::{Error, Result, Site};
use crate::graph::Graph;
use graph_plan::{Family, Role};

/// Refuses nodes of kinds that CUDA can neither enable nor disable.
pub(in crate::graph) fn check_kind(graph: &Graph, node: usize) -> Result<()> {
    match graph.data.draft.nodes[node].kind.family() {
        Family::Kernel | Family::Copy => Ok(()),
        _ => refuse(graph, node, "only kernel, memcpy and memset nodes can be disabled"),
    }
}

/// Refuses changes that leave a `while` without end, or scratch memory without contents. Each is a node with whether it
/// is to run; all are made together.
pub(in crate::graph) fn check_together(graph: &Graph, changes: &[(usize, bool)]) -> Result<()> {
    let runs = |node: usize| {
        let changed = changes.iter().find(|(changed, _)| *changed == node);
        changed.map_or(graph.data.program.enabled[node], |(_, enabled)| *enabled)
    };
    for &(node, _) in changes {
        if !runs(node) && ends_a_while_alone(graph, node, runs) {
            return refuse(
                graph,
                node,
                "without this node nothing writes the condition of the `while` around it, which would never end",
            );
        }
    }
    let scratch = |&&(node, _): &&(usize, bool)| graph.touches_scratch(node);
    let Some(&(node, _)) = changes.iter().find(scratch) else {
        return Ok(());
    };
    match graph.scratch_fault(runs) {
        Some(message) => refuse(graph, node, message),
        None => Ok(()),
    }
}

fn refuse(graph: &Graph, node: usize, message: &'static str) -> Result<()> {
    let site = Site::graph(&graph.data.draft.name).at_node(&graph.data.draft.nodes[node].name);
    Err(Error::Unsupported { site, message })
}

/// Whether the node is the only one that runs and writes the condition of some `while` around it.
fn ends_a_while_alone(graph: &Graph, node: usize, runs: impl Fn(usize) -> bool) -> bool {
    let draft = &graph.data.draft;
    let alone = |body: usize| {
        let writers: Vec<usize> = graph_plan::condition_writers(draft, body).collect();
        let others = writers.iter().filter(|&&writer| writer != node);
        let ends = |&other: &usize| runs(other) && !draft.nodes[other].partial;
        writers.contains(&node) && !others.clone().any(ends)
    };
    let whiles = |&body: &usize| draft.bodies[body].role == Role::While;
    draft.bodies_around(node).filter(whiles).any(alone)
}
