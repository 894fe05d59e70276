//! Warnings about a right graph.

use super::advice::not_after;
use super::dead_node;
use crate::{Code, Diagnostic, Draft, Memory, Nest, Subject};

/// Unused resources, redundant edges and dead nodes.
pub(super) fn warnings(draft: &Draft, order: &Nest, redundant: &[usize]) -> Vec<Diagnostic> {
    let mut used = vec![false; draft.resources.len()];
    draft.accesses.iter().for_each(|access| used[access.resource] = true);
    let unused = draft
        .resources
        .iter()
        .enumerate()
        // Kernels read variables of their module although no node names them.
        .filter(|(index, resource)| !used[*index] && !matches!(resource.memory, Memory::Variable | Memory::Constant))
        .map(|(index, resource)| {
            let message = format!("no node uses `{}`", resource.name);
            Diagnostic::new(Code::UnusedResource, Subject::Resource(index), message)
                .help("remove it, or use it in a node")
        });
    let mut into: Vec<Vec<usize>> = Vec::new();
    if !redundant.is_empty() {
        into.resize(draft.nodes.len(), Vec::new());
        draft.edges.iter().for_each(|edge| into[edge.to].push(edge.from));
    }
    let written = redundant.iter().filter(|&&index| !draft.is_inferred(index));
    let implied = written.map(|&index| {
        let edge = draft.edges[index];
        let mut others = into[edge.to].iter().copied();
        let over = others.find(|&other| order.before(edge.from, other));
        let [from, over, to] = [edge.from, over.unwrap_or(edge.from), edge.to].map(|node| &draft.nodes[node].name);
        Diagnostic::new(
            Code::RedundantEdge,
            Subject::Edge(index),
            format!("`{to}` already runs after `{from}`"),
        )
        .note(format!("`{to}` runs after `{over}`, which runs after `{from}`"))
        .help(not_after(draft, edge.from, edge.to))
    });
    unused
        .chain(implied)
        .chain(dead_node::dead_nodes(draft, order))
        .collect()
}
