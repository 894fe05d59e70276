//! All rules over a [`Draft`], in one pass. Each mistake is reported once; the order of the nodes is a by-product.

mod warning;
mod dead_node;
mod scratch;
mod mixed_atomics;
mod collective;
mod rank_dependent;
mod unordered;
mod race_message;
mod iteration_race;
mod loop_cycle;
mod iteration_cycle;
mod programmatic;
mod edge;
mod body;
mod alias;
mod memory;
mod cut;
mod advice;

use crate::draft::Link;
use crate::{Diagnostic, Draft, Edge, Nest, Order};
pub use body::{condition_accesses, condition_writers, forbidden_capture, other_body, siblings};
use cut::Cycle;
use edge::{Edges, Members};
pub use mixed_atomics::{clash, mixed_reads};
use std::borrow::Cow;

/// The result of checking a graph.
#[derive(Debug)]
pub struct Outcome {
    /// Mistakes; a graph without any is acyclic and race-free.
    pub errors: Vec<Diagnostic>,
    /// Facts that an author would want to know; empty if there are errors.
    pub warnings: Vec<Diagnostic>,
    /// The accesses, ascending, that may both read and write scratch memory which nothing has written before. If they
    /// do read it, they are mistakes. Only a kernel's PTX tells that, so the caller must look.
    pub first_writes: Vec<usize>,
    /// The order of the nodes. Wrong edges are left out.
    pub order: Nest,
    /// The indices, ascending, of [`Draft::edges`] that longer paths of plain edges imply.
    pub redundant: Vec<usize>,
}

impl Outcome {
    /// The direct edges left after transitive reduction.
    pub fn reduced<'a>(&'a self, draft: &'a Draft) -> impl Iterator<Item = Edge> + 'a {
        self.reduced_indices(draft).map(|index| draft.edges[index])
    }

    /// The indices in [`Draft::edges`] of the direct edges left after transitive reduction.
    pub fn reduced_indices<'a>(&'a self, draft: &Draft) -> impl Iterator<Item = usize> + use<'a> {
        let mut redundant = self.redundant.iter().copied().peekable();
        (0..draft.edges.len()).filter(move |index| redundant.next_if_eq(index).is_none())
    }
}

/// Checks every rule that needs no types: edges, cycles, memory kinds, aliasing, bodies, races and scratch memory.
///
/// Accesses that `check/memory.rs` does not allow touch nothing in the other rules.
///
/// Nodes marked [`broken`](crate::Node::broken) and whatever comes after them take no part in the race rule: their
/// order is not what the author meant.
pub fn check(draft: &Draft) -> Outcome {
    let mut outcome = check_errors(draft);
    outcome.warnings = warnings(draft, &outcome);
    outcome
}

/// The warnings about a graph, which [`check_errors`] leaves out.
pub fn warnings(draft: &Draft, outcome: &Outcome) -> Vec<Diagnostic> {
    if outcome.errors.is_empty() {
        warning::warnings(draft, &outcome.order, &outcome.redundant)
    } else {
        Vec::new()
    }
}

/// Checks the same rules as [`check`], without warnings.
pub fn check_errors(draft: &Draft) -> Outcome {
    let (mut outcome, cycles) = rules(draft);
    let left = |draft: &Draft| {
        let (outcome, cycles) = rules(draft);
        (cycles.len(), outcome.errors.len() - cycles.len())
    };
    cycles
        .iter()
        .for_each(|cycle| cycle.advise(draft, &mut outcome.errors, left));
    outcome
}

/// The mistakes found so far.
struct Found {
    errors: Vec<Diagnostic>,
    /// The cycles among the errors.
    cycles: Vec<Cycle>,
    /// Whether each node is wrong, so that its order is not what the author meant.
    broken: Vec<bool>,
}

impl Found {
    /// Reports a cycle of these edges, and the other way to mend it, if there is one.
    fn cycle(&mut self, diagnostic: Diagnostic, links: Vec<Link>, other: Option<&'static str>) {
        let error = self.errors.len();
        self.cycles.push(Cycle { error, links, other });
        self.errors.push(diagnostic);
    }
}

/// The outcome, in which cycles have no helps yet, and the cycles.
fn rules(draft: &Draft) -> (Outcome, Vec<Cycle>) {
    let mut found = Found {
        errors: Vec::new(),
        cycles: Vec::new(),
        broken: draft.nodes.iter().map(|node| node.broken).collect(),
    };
    let usable = edge::usable_edges(draft, &mut found);
    let right = memory::wrong_memory(draft, &mut found.errors);
    let draft = &*right;
    alias::aliased_arguments(draft, &mut found.errors);
    body::forbidden_nodes(draft, &mut found.errors);
    body::endless_whiles(draft, &mut found.errors);
    programmatic::other_nodes(draft, &usable, &mut found.errors);
    let (order, redundant) = order(draft, &usable, &mut found);
    loop_cycle::cycles_of_loops(draft, &usable, &order, &mut found);
    if !draft.shifts.is_empty() {
        iteration_cycle::between_iterations(draft, &order, &mut found);
    }
    unordered::unordered(draft, &order, &found.broken, &mut found.errors);
    collective::unordered(draft, &order, &found.broken, &mut found.errors);
    rank_dependent::guarded(draft, &order, &found.broken, &mut found.errors);
    let scratch = scratch::uninitialized(draft, &order, &found.broken);
    found.errors.extend(scratch.errors);
    let outcome = Outcome {
        errors: found.errors,
        warnings: Vec::new(),
        first_writes: scratch.first_writes,
        order,
        redundant,
    };
    (outcome, found.cycles)
}

/// Orders the nodes of every body, and finds the edges that are redundant.
fn order(draft: &Draft, usable: &[usize], found: &mut Found) -> (Nest, Vec<usize>) {
    if draft.bodies.len() == 1 {
        let edges = Edges {
            indices: Cow::Borrowed(usable),
            local: if usable.len() == draft.edges.len() {
                Cow::Borrowed(&draft.edges)
            } else {
                usable.iter().map(|&index| draft.edges[index]).collect()
            },
        };
        let members = Members::All(draft.nodes.len());
        let (order, kept) = edge::order(draft, &members, &edges, found);
        let redundant = redundant(draft, &members, &edges, &order, kept.as_deref());
        return (Nest::flat(order), redundant);
    }
    let members = draft.members();
    let mut local = vec![0; draft.nodes.len()];
    for (place, &node) in members.iter().flat_map(|nodes| nodes.iter().enumerate()) {
        local[node] = place;
    }
    let mut edges = vec![Edges::default(); draft.bodies.len()];
    for &index in usable {
        let Edge { from, to } = draft.edges[index];
        debug_assert_eq!(draft.nodes[from].body, draft.nodes[to].body, "edges stay within a body");
        let edges = &mut edges[draft.nodes[to].body];
        edges.indices.to_mut().push(index);
        edges.local.to_mut().push(Edge {
            from: local[from],
            to: local[to],
        });
    }
    let (mut orders, mut all_redundant) = (Vec::new(), Vec::new());
    for (nodes, edges) in members.iter().zip(&edges) {
        let members = Members::Listed(nodes);
        let (order, kept) = edge::order(draft, &members, edges, found);
        all_redundant.extend(redundant(draft, &members, edges, &order, kept.as_deref()));
        orders.push(order);
    }
    all_redundant.sort_unstable();
    (Nest::new(draft, members, orders), all_redundant)
}

/// The indices in [`Draft::edges`] of a body's redundant edges. `order` was made of the edges at the places `kept`, or
/// of all edges. No programmatic edge is redundant, and a path with one in it makes no edge redundant.
fn redundant(
    draft: &Draft,
    members: &Members<'_>,
    edges: &Edges<'_>,
    order: &Order,
    kept: Option<&[usize]>,
) -> Vec<usize> {
    let place = |index: usize| kept.map_or(index, |kept| kept[index]);
    let plain = |&place: &usize| !draft.is_programmatic(edges.indices[place]);
    let used = kept.map_or(edges.local.len(), <[usize]>::len);
    if draft.programmatic.is_empty() || (0..used).map(place).all(|place| plain(&place)) {
        let redundant = order.redundant().iter();
        return redundant.map(|&index| edges.indices[place(index)]).collect();
    }
    let plain: Vec<usize> = (0..used).map(place).filter(plain).collect();
    let local: Vec<Edge> = plain.iter().map(|&place| edges.local[place]).collect();
    let order = Order::new(members.len(), &local).expect("edges without a cycle have none if some are left out");
    let redundant = order.redundant().iter();
    redundant.map(|&index| edges.indices[plain[index]]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_draft::draft_of;
    use crate::{Bound, Code, Mode, NodeKind, Region, Role, Subject};

    fn codes(draft: &Draft) -> Vec<Code> {
        let Outcome { errors, warnings, .. } = check(draft);
        let all = errors.iter().chain(&warnings);
        all.map(|diagnostic| diagnostic.code).collect()
    }

    fn found(diagnostics: &[Diagnostic]) -> Vec<(Code, Subject)> {
        let of = |diagnostic: &Diagnostic| (diagnostic.code, diagnostic.subject);
        diagnostics.iter().map(of).collect()
    }

    #[test]
    fn a_cycle_is_spelled_out_once_and_hides_no_other_mistake() {
        let draft = draft_of(
            "device data; kernel a: data= after b; kernel b after c; kernel c after a; kernel d: data=; kernel e: data=;",
        );
        let expected = [Code::Cycle, Code::Race];
        assert_eq!(codes(&draft), expected, "no race with a node of the cycle");
        let expected = "nodes run after each other in a cycle: `a` -> `c` -> `b` -> `a`";
        assert_eq!(check(&draft).errors[0].message, expected);
    }

    #[test]
    fn loops_and_repetitions_are_reported_once_each() {
        let draft = draft_of("kernel a; kernel b after a, b, a;");
        let outcome = check(&draft);
        let loops = (Code::SelfDependency, Subject::Edge(1));
        let repetitions = (Code::DuplicateDependency, Subject::Edge(2));
        assert_eq!(found(&outcome.errors), [loops, repetitions]);
        let left = outcome.reduced(&draft).filter(|edge| edge.from != edge.to);
        assert_eq!(left.count(), 2, "reduction leaves wrong edges alone");
    }

    #[test]
    fn warnings_come_only_with_a_right_graph() {
        let mut draft = draft_of("device data; kernel a; kernel b after a; kernel c after b, a;");
        let outcome = check(&draft);
        let unused = (Code::UnusedResource, Subject::Resource(0));
        let implied = (Code::RedundantEdge, Subject::Edge(2));
        assert_eq!(found(&outcome.warnings), [unused, implied]);
        assert_eq!(outcome.warnings[1].notes, ["`c` runs after `b`, which runs after `a`"]);
        assert_eq!(outcome.reduced(&draft).count(), 2);
        draft.edge(1, 1);
        assert!(check(&draft).warnings.is_empty());
    }

    #[test]
    fn edges_beside_a_cycle_order_their_nodes() {
        let draft =
            draft_of("device data; kernel a after b; kernel b after a; kernel c: data=; kernel d: data= after c;");
        assert_eq!(codes(&draft), [Code::Cycle]);
    }

    #[test]
    fn the_edge_without_which_no_race_begins_is_advised_unless_the_graph_is_large() {
        let advised = |nodes: usize| {
            let mut draft =
                draft_of("device data; kernel a; kernel b after a; kernel c: data= after b; kernel d: data=;");
            draft.edge(2, 0);
            draft.edge(0, 3);
            for node in 4..nodes {
                draft.node(format!("j{node}"), NodeKind::Join);
            }
            check(&draft).errors[0].subject
        };
        // Without the edge from `c` to `a`, `c` and `d` race.
        assert_eq!(advised(4), Subject::Edge(1));
        assert_eq!(advised(1 << 10), Subject::Edge(1));
        let expected = Subject::Edge(2);
        assert_eq!(advised((1 << 10) + 1), expected, "the edge that closes the cycle");
    }

    #[test]
    fn parts_of_which_one_is_unknown_are_not_said_to_be_comparable() {
        let symbol = |name: &str| Bound::Symbol(name.into());
        let notes = |parts: [Bound; 2]| {
            let mut draft = draft_of("device data; kernel k;");
            for part in parts {
                draft.access(0, 0, Region::Index(part), Mode::ReadWrite);
            }
            check(&draft).errors.remove(0).notes.len()
        };
        assert_eq!(notes([symbol("I"), symbol("J")]), 2);
        assert_eq!(notes([symbol("I"), Bound::Unknown]), 1);
        assert_eq!(notes([Bound::Unknown, symbol("J")]), 1);
    }

    #[test]
    fn what_follows_a_broken_node_is_not_a_race() {
        let mut draft = draft_of("device data; kernel a: data=; kernel b; kernel c: data= after b;");
        draft.nodes[1].broken = true;
        assert_eq!(check(&draft).errors, []);
    }

    /// `choice` with a body each way, whose nodes write one resource.
    fn choice() -> Draft {
        draft_of("device flag, data; if choice: flag { kernel then: data*; } else { kernel otherwise: data*; }")
    }

    #[test]
    fn conditional_bodies_hold_captures_of_what_cuda_runs_there() {
        let mut draft = choice();
        let outside = draft.node("outside", NodeKind::Capture);
        let child = draft.node_in(2, "child", NodeKind::Graph);
        let body = draft.body(child, Role::Child);
        let inside = draft.node_in(body, "inside", NodeKind::Capture);
        assert_eq!(check(&draft).errors, [], "of which one body runs");
        assert_eq!(forbidden_capture(&draft, outside, "a host function"), None);
        let error = forbidden_capture(&draft, inside, "a host function").expect("it is in a body");
        let expected = (Code::ConditionalBody, Subject::Node(inside));
        assert_eq!((error.code, error.subject), expected);
        let expected = "capture node `inside` captured a host function, which cannot be in the body of `choice`";
        assert_eq!(error.message, expected);
    }

    #[test]
    fn a_while_must_write_its_condition() {
        let draft = |step: &str| {
            draft_of(&format!(
                "device flag; while repeat: flag after set {{ kernel {step}; }} memset set: flag=;"
            ))
        };
        let right = draft("step: flag*");
        let mut draft = draft("step");
        let expected = (Code::EndlessWhile, Subject::Node(0));
        assert_eq!(found(&check(&draft).errors), [expected]);
        draft.bodies[1].broken = true;
        assert_eq!(check(&draft).errors, [], "who knows what could not be read");
        assert_eq!(check(&right).errors, []);
    }

    #[test]
    fn the_condition_that_a_help_names_is_that_of_the_body() {
        let mut draft = choice();
        draft.node_in(1, "print", NodeKind::Call);
        let help = check(&draft).errors.remove(0).help.unwrap_or_default();
        assert!(help.contains("`memcpy` `flag` to `host` memory"), "{help}");
        assert!(!help.contains("remove `choice`"), "it has other nodes: {help}");
    }

    #[test]
    fn a_broken_body_elsewhere_hides_no_endless_while() {
        let mut draft = draft_of("device flag; while one: flag { } while other: flag { }");
        draft.bodies[2].broken = true;
        let expected = (Code::EndlessWhile, Subject::Node(0));
        assert_eq!(found(&check(&draft).errors), [expected]);
    }

    #[test]
    fn the_only_node_of_a_conditional_leaves_nothing_to_run() {
        let mut draft = draft_of("if one { call print; } if two { }");
        let is_empty = |draft: &Draft| {
            let help = check(draft).errors.remove(0).help.unwrap_or_default();
            help.contains(", and remove `one`, which then runs nothing")
        };
        draft.bodies[2].broken = true;
        assert!(is_empty(&draft), "the other body does not count");
        draft.bodies[1].broken = true;
        assert!(!is_empty(&draft), "who knows what could not be read");
        draft.bodies[1].broken = false;
        draft.node_in(2, "beside", NodeKind::Join);
        assert!(is_empty(&draft));
        draft.node_in(1, "with", NodeKind::Join);
        assert!(!is_empty(&draft), "`print` is not alone");
    }

    #[test]
    fn cycles_and_reduction_are_found_in_bodies() {
        let mut draft = draft_of("if choice { join a; join b after a; join c after b, a; }");
        assert_eq!(check(&draft).redundant, [2]);
        draft.edge(3, 1);
        assert_eq!(codes(&draft), [Code::Cycle]);
        assert!(check(&draft).errors[0].message.ends_with("`a` -> `c` -> `a`"));
    }

    #[test]
    fn reduction_is_of_plain_edges_beside_programmatic_ones() {
        let draft = draft_of("kernel a; kernel b after a; kernel c after b, a; kernel d after ~c;");
        assert_eq!(check(&draft).redundant, [2]);
    }

    #[test]
    fn reduction_leaves_paths_through_programmatic_edges_alone() {
        let mut draft = draft_of("kernel a; kernel b after a; kernel c after ~b, a; kernel d after c, b;");
        assert!(check(&draft).redundant.is_empty());
        draft.programmatic.clear();
        assert_eq!(check(&draft).redundant, [2, 4]);
    }
}
