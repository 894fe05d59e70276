//! The first difference between the shapes of two graphs: their nodes, bodies and edges.

use crate::ownership::blueprint::Programmatic;
use graph_plan::{Draft, Lists, Nest};
use std::collections::BTreeSet;

/// A graph's nodes, the direct predecessors of each after transitive reduction, and its programmatic edges.
pub(super) type Shape<'a> = (&'a Draft, &'a Lists<u32>, &'a Programmatic);

/// The first difference between a graph and a definition: the node of the graph, if it is about one, and a message.
pub(super) fn difference(graph: Shape<'_>, definition: Shape<'_>) -> Option<(Option<usize>, String)> {
    let ((old, ..), (new, ..)) = (graph, definition);
    if old.bodies != new.bodies || old.nodes.len() != new.nodes.len() {
        let both = old.nodes.iter().zip(&new.nodes);
        let other = both.clone().position(|(old, new)| old.kind != new.kind);
        let count = |draft: &Draft| {
            let s = if draft.nodes.len() == 1 { "" } else { "s" };
            format!("{} node{s}", draft.nodes.len())
        };
        let message = match old.nodes.len() == new.nodes.len() {
            true => "the definition has other bodies".to_owned(),
            false => format!("the graph has {}, but the definition has {}", count(old), count(new)),
        };
        return Some((other, message));
    }
    (0..old.nodes.len()).find_map(|node| Some((Some(node), node_difference(graph, definition, node)?)))
}

/// The difference of one node, if there is any.
fn node_difference(graph: Shape<'_>, definition: Shape<'_>, node: usize) -> Option<String> {
    let ((old, before, early), (new, new_before, new_early)) = (graph, definition);
    let (is, becomes) = (&old.nodes[node], &new.nodes[node]);
    if is.kind != becomes.kind {
        let (is, kind, name) = (is.kind.keyword(), becomes.kind.keyword(), &becomes.name);
        return Some(format!(
            "this node is a `{is}`, but the definition has the `{kind}` `{name}` in its place"
        ));
    }
    if is.body != becomes.body {
        return Some("the definition has this node in another body".to_owned());
    }
    let set = |lists: &Lists<u32>| lists.of(node).iter().copied().collect::<BTreeSet<u32>>();
    let (ours, theirs) = (set(before), set(new_before));
    if ours != theirs {
        return Some(format!(
            "this node runs after {}, but in the definition after {}",
            names(old, &ours),
            names(new, &theirs)
        ));
    }
    let differs = |from: &&u32| early.contains(**from, node) != new_early.contains(**from, node);
    ours.iter().find(differs).map(|&from| {
        let from = &old.nodes[from as usize].name;
        format!("the edge from `{from}` is programmatic in one of the graph and the definition only")
    })
}

/// The names of nodes, in words.
fn names(draft: &Draft, nodes: &BTreeSet<u32>) -> String {
    let names: Vec<String> = nodes
        .iter()
        .map(|&node| format!("`{}`", draft.nodes[node as usize].name))
        .collect();
    match names.is_empty() {
        true => "no other".to_owned(),
        false => names.join(", "),
    }
}

/// Whether the nodes of two graphs of one shape are added in the same order, each after the same nodes in the same
/// order.
pub(super) fn is_ordered_like(one: (&Nest, &Lists<u32>), other: (&Nest, &Lists<u32>)) -> bool {
    let bodies = one.0.bodies();
    bodies == other.0.bodies()
        && (0..bodies).all(|body| {
            one.0.sequence(body).eq(other.0.sequence(body))
                && one.0.sequence(body).all(|node| one.1.of(node) == other.1.of(node))
        })
}
