//! Helps about `after` that say what to write and where, and lines of the source.

use crate::draft::stepped;
use crate::{Draft, Nest, Region, Shift};

/// The note about indices that are not compared.
pub(super) const COMPARED: &str =
    "indices are compared if they are sums of loop variables times literals, such as `2 * i + 1`";

/// The help to make `later` run after `earlier`, in place of the nodes of its `after` list that `earlier` runs after.
pub(super) fn run_after(draft: &Draft, order: &Nest, earlier: usize, later: usize) -> String {
    let name = |node: usize| &*draft.nodes[node].name;
    let mut implied: Vec<&str> = Vec::new();
    for (index, edge) in draft.edges.iter().enumerate().filter(|(_, edge)| edge.to == later) {
        let is_implied = edge.from != earlier && edge.from != later && order.before(edge.from, earlier);
        if is_implied
            && !draft.is_programmatic(index)
            && !draft.is_inferred(index)
            && !implied.contains(&name(edge.from))
        {
            implied.push(name(edge.from));
        }
    }
    if implied.is_empty() {
        return name_in_after(draft, name(earlier), later);
    }
    let (implied, earlier, later) = (implied.join("` and `"), name(earlier), name(later));
    format!("replace `{implied}` by `{earlier}` in the `after` list of `{later}`")
}

/// As [`run_after`], with the offer of `after auto` if that gives the edge: `later` comes after `earlier` in the text.
pub(super) fn run_after_or_auto(draft: &Draft, order: &Nest, earlier: usize, later: usize) -> String {
    let help = run_after(draft, order, earlier, later);
    if !draft.is_text || draft.auto || draft.nodes[later].auto || later < earlier {
        return help;
    }
    let auto = match help.split_once(' ') {
        Some(("write", _)) => "`after auto` there",
        Some(("replace", _)) => "by `auto`",
        _ => "`auto`",
    };
    format!("{help}, or {auto}")
}

/// The help to make `later` run after the node that is named `earlier`, which need not exist yet.
pub(super) fn name_in_after(draft: &Draft, earlier: &str, later: usize) -> String {
    let node = &draft.nodes[later];
    if !draft.is_text || edges_into(draft, later) > 0 {
        return format!("add `{earlier}` to the `after` list of `{}`", node.name);
    }
    let place = match node.kind.is_conditional() {
        true => "after the last `}`",
        false => "before the `;`",
    };
    format!("write `after {earlier}` {place} of `{}`", node.name)
}

/// The help to remove the edge by which `later` runs after `earlier`.
pub(super) fn not_after(draft: &Draft, earlier: usize, later: usize) -> String {
    without(draft, &draft.nodes[earlier].name, later)
}

/// The help to remove an edge between iterations.
pub(super) fn not_after_iteration(draft: &Draft, shift: &Shift) -> String {
    without(draft, &spelled(draft, shift), shift.to)
}

/// The help to remove `earlier` from the `after` list of `later`.
fn without(draft: &Draft, earlier: &str, later: usize) -> String {
    let name = &draft.nodes[later].name;
    match draft.is_text && edges_into(draft, later) <= 1 {
        true => format!("remove `after {earlier}` from `{name}`"),
        false => format!("remove `{earlier}` from the `after` list of `{name}`"),
    }
}

/// The node of another iteration that an edge begins at, as it is written: `k(i - 1)`.
pub(super) fn spelled(draft: &Draft, shift: &Shift) -> String {
    let around = draft.loops_from_outermost(draft.loop_around(shift.to));
    iteration(draft, shift.from, around.into_iter().zip(shift.steps.iter().copied()))
}

/// A node of another iteration, as it is written in `after`: `k(i - 1)`. Each loop comes with the number that is added
/// to its variable.
pub(super) fn iteration(draft: &Draft, node: usize, steps: impl Iterator<Item = (usize, i64)>) -> String {
    let numbers: Vec<String> = steps
        .map(|(around, step)| stepped(&draft.loops[around].variable.name, step))
        .collect();
    format!("{}({})", draft.nodes[node].name, numbers.join(", "))
}

/// Words in a list: `a, b and c`.
pub(super) fn and_list(mut words: Vec<String>) -> String {
    match words.pop() {
        Some(last) if !words.is_empty() => format!("{} and {last}", words.join(", ")),
        last => last.unwrap_or_default(),
    }
}

/// The number of names in the `after` list of a node.
fn edges_into(draft: &Draft, node: usize) -> usize {
    let shifted = draft.shifts.iter().filter(|shift| shift.to == node).count();
    let edges = draft.edges.iter().enumerate();
    let named = edges.filter(|(index, edge)| edge.to == node && !draft.is_inferred(*index));
    named.count() + shifted + usize::from(draft.nodes[node].auto)
}

/// A line in parentheses, if it is known.
pub(super) fn on_line(line: Option<u32>) -> String {
    line.map_or(String::new(), |line| format!(" (line {line})"))
}

/// The line of an edge in parentheses, if it is known, or that accesses imply the edge.
pub(super) fn line_of_edge(draft: &Draft, edge: usize) -> String {
    if draft.is_inferred(edge) {
        return " (`after auto`)".to_owned();
    }
    on_line(draft.edge_lines.get(edge).copied().flatten())
}

/// The line of an edge between iterations in parentheses, if it is known.
pub(super) fn line_of_shift(draft: &Draft, shift: usize) -> String {
    on_line(draft.shift_lines.get(shift).copied().flatten())
}

/// The bytes that two views have in common, in words.
pub(super) fn bytes_of_both(one: &Region, other: &Region) -> String {
    match one.common(other) {
        Some(bytes) => format!("{bytes} bytes belong to both"),
        None => "some bytes belong to both".to_owned(),
    }
}
