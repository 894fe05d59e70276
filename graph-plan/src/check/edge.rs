//! Edges: those from a node to itself, duplicates, and cycles.

use super::Found;
use super::advice::{iteration, line_of_edge, not_after};
use crate::draft::Link;
use crate::{Code, Diagnostic, Draft, Edge, Order, Subject, cycles};
use std::borrow::Cow;

/// Reports edges from a node to itself and duplicates; returns the indices of all others.
pub(super) fn usable_edges(draft: &Draft, found: &mut Found) -> Vec<usize> {
    let ascend = draft.edges.is_sorted_by(|a, b| a < b);
    if ascend && draft.edges.iter().all(|edge| edge.from != edge.to) {
        return (0..draft.edges.len()).collect(); // the usual case: declared in order
    }
    let mut repeated = repeated_edges(draft).into_iter().peekable();
    let mut usable = Vec::with_capacity(draft.edges.len());
    for (index, edge) in draft.edges.iter().enumerate() {
        let again = repeated.next_if_eq(&index).is_some();
        let [from, to] = [edge.from, edge.to].map(|node| &draft.nodes[node].name);
        if edge.from == edge.to && !again {
            found.broken[edge.to] = true;
            let message = format!("node `{to}` runs after itself");
            let diagnostic = Diagnostic::new(Code::SelfDependency, Subject::Edge(index), message);
            found.errors.push(match own_iterations(draft, edge.to) {
                Some([this, previous]) => diagnostic
                    .note(format!("`{this}` is this very iteration"))
                    .help(format!("did you mean `after {previous}`?")),
                None => diagnostic.help(not_after(draft, edge.to, edge.to)),
            });
        } else if again && edge.from != edge.to {
            found.errors.push(named_twice(to, from, Subject::Edge(index)));
        } else if edge.from != edge.to {
            usable.push(index);
        }
    }
    usable
}

/// The mistake that the `after` list of a node names another one, as it is spelled, twice.
pub(super) fn named_twice(node: &str, other: &str, subject: Subject) -> Diagnostic {
    let message = format!("node `{node}` names `{other}` twice in its `after` list");
    Diagnostic::new(Code::DuplicateDependency, subject, message).help(format!("remove the second `{other}`"))
}

/// This iteration of a node and the one before it, as `after` names them: `k(i)` and `k(i - 1)`. `None` if the node is
/// in no `each` of its body.
fn own_iterations(draft: &Draft, node: usize) -> Option<[String; 2]> {
    let own = draft.loops_in_body(node);
    let innermost = *own.iter().rfind(|&&around| draft.loops[around].parallel)?;
    let around = draft.loops_from_outermost(draft.loop_around(node));
    let spelled = |of_innermost: i64| {
        let step = |&around: &usize| (around, if around == innermost { of_innermost } else { 0 });
        iteration(draft, node, around.iter().map(step))
    };
    draft.is_text.then(|| [spelled(0), spelled(-1)])
}

/// The indices, ascending, of edges that are equal to an earlier one.
fn repeated_edges(draft: &Draft) -> Vec<usize> {
    if draft.edges.is_sorted_by(|a, b| a < b) {
        return Vec::new();
    }
    let mut seen: Vec<(Edge, usize)> = draft.edges.iter().copied().zip(0..).collect();
    seen.sort_unstable();
    let mut repeated: Vec<usize> = seen
        .windows(2)
        .filter(|pair| pair[0].0 == pair[1].0)
        .map(|pair| pair[1].1)
        .collect();
    repeated.sort_unstable();
    repeated
}

/// Orders the nodes of one body; reports cycles and leaves out the edges inside them. Also returns the places in
/// `edges` of the edges that were used, unless all were.
pub(super) fn order(
    draft: &Draft,
    members: &Members<'_>,
    edges: &Edges<'_>,
    found: &mut Found,
) -> (Order, Option<Vec<usize>>) {
    let local = &edges.local;
    if let Some(order) = Order::new(members.len(), local) {
        return (order, None);
    }
    let mut component = vec![usize::MAX; members.len()];
    for (number, cycle) in cycles(members.len(), local).iter().enumerate() {
        for &node in &cycle.component {
            component[node] = number;
            found.broken[members.node(node)] = true;
        }
        let shortest: Vec<usize> = cycle.shortest.iter().map(|&node| members.node(node)).collect();
        let (diagnostic, links) = cyclic(draft, &shortest);
        found.cycle(diagnostic, links, None);
    }
    let inside = |edge: Edge| component[edge.from] != usize::MAX && component[edge.from] == component[edge.to];
    let kept: Vec<usize> = (0..local.len()).filter(|&index| !inside(local[index])).collect();
    let left: Vec<Edge> = kept.iter().map(|&index| local[index]).collect();
    let order =
        Order::new(members.len(), &left).expect("no cycle is left once no edge joins two nodes of one component");
    (order, Some(kept))
}

/// The edges of a body.
#[derive(Clone, Default)]
pub(super) struct Edges<'a> {
    /// Their indices in [`Draft::edges`].
    pub(super) indices: Cow<'a, [usize]>,
    /// The same edges, by their nodes' indices in the body.
    pub(super) local: Cow<'a, [Edge]>,
}

/// The nodes of a body: all of the graph, or those listed.
pub(super) enum Members<'a> {
    All(usize),
    Listed(&'a [usize]),
}

impl Members<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            Members::All(count) => *count,
            Members::Listed(nodes) => nodes.len(),
        }
    }

    pub(super) fn node(&self, local: usize) -> usize {
        match self {
            Members::All(_) => local,
            Members::Listed(nodes) => nodes[local],
        }
    }
}

/// The mistake of a cycle, and its edges.
fn cyclic(draft: &Draft, shortest: &[usize]) -> (Diagnostic, Vec<Link>) {
    let name = |node: usize| format!("`{}`", draft.nodes[node].name);
    let spelled: Vec<String> = shortest.iter().chain(&shortest[..1]).map(|&node| name(node)).collect();
    let place = |from: usize, to: usize| draft.edges.iter().position(|&edge| edge == Edge { from, to });
    let pairs = shortest.iter().zip(shortest.iter().cycle().skip(1));
    let places: Vec<usize> = pairs.filter_map(|(&from, &to)| place(from, to)).collect();
    let message = format!("nodes run after each other in a cycle: {}", spelled.join(" -> "));
    let mut diagnostic = Diagnostic::new(Code::Cycle, Subject::Node(shortest[0]), message);
    if !draft.edge_lines.is_empty() {
        let told = places.iter().map(|&index| {
            let Edge { from, to } = draft.edges[index];
            format!("{} runs after {}{}", name(to), name(from), line_of_edge(draft, index))
        });
        diagnostic = diagnostic.note(told.collect::<Vec<_>>().join(", "));
    }
    let diagnostic = diagnostic.note("each of them waits for the one before it, so none could ever start");
    (diagnostic, places.into_iter().rev().map(Link::Edge).collect())
}
