//! Helps about `after` that say what to write and where, and lines of the source.

use crate::{Draft, NodeKind};

/// The help to make `later` run after `earlier`.
pub(super) fn run_after(draft: &Draft, earlier: usize, later: usize) -> String {
    name_in_after(draft, &draft.nodes[earlier].name, later)
}

/// The help to make `later` run after the node that is named `earlier`, which need not exist yet.
pub(super) fn name_in_after(draft: &Draft, earlier: &str, later: usize) -> String {
    let node = &draft.nodes[later];
    if !draft.is_text || draft.edges.iter().any(|edge| edge.to == later) {
        return format!("add `{earlier}` to the `after` list of `{}`", node.name);
    }
    let place = match node.kind {
        NodeKind::If | NodeKind::While | NodeKind::Switch => "after the last `}`",
        NodeKind::Kernel
        | NodeKind::Memcpy
        | NodeKind::Memset
        | NodeKind::Call
        | NodeKind::Graph
        | NodeKind::Capture
        | NodeKind::Raw
        | NodeKind::Join
        | NodeKind::Record
        | NodeKind::Wait => "before the `;`",
    };
    format!("write `after {earlier}` {place} of `{}`", node.name)
}

/// The help to remove the edge by which `later` runs after `earlier`.
pub(super) fn not_after(draft: &Draft, earlier: usize, later: usize) -> String {
    let (earlier, name) = (&draft.nodes[earlier].name, &draft.nodes[later].name);
    let others = draft.edges.iter().filter(|edge| edge.to == later).count() > 1;
    match draft.is_text && !others {
        true => format!("remove `after {earlier}` from `{name}`"),
        false => format!("remove `{earlier}` from the `after` list of `{name}`"),
    }
}

/// A line in parentheses, if it is known.
pub(super) fn on_line(line: Option<u32>) -> String {
    line.map_or(String::new(), |line| format!(" (line {line})"))
}

/// The line of an edge in parentheses, if it is known.
pub(super) fn line_of_edge(draft: &Draft, edge: usize) -> String {
    on_line(draft.edge_lines.get(edge).copied().flatten())
}
