//! All rules over a [`Draft`], in one pass. Each mistake is reported once; the order of the nodes is a by-product.

mod warning;
mod dead_node;
mod scratch;
mod mixed_atomics;
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
    let mut members = vec![Vec::new(); draft.bodies.len()];
    let mut local = vec![0; draft.nodes.len()];
    for (node, declared) in draft.nodes.iter().enumerate() {
        local[node] = members[declared.body].len();
        members[declared.body].push(node);
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
    use crate::{Code, Memory, Mode, NodeKind, Region, Role, Subject};

    fn codes(outcome: &Outcome) -> Vec<Code> {
        outcome
            .errors
            .iter()
            .chain(&outcome.warnings)
            .map(|diagnostic| diagnostic.code)
            .collect()
    }

    fn kernels(draft: &mut Draft, names: &[&'static str]) {
        for name in names {
            draft.node(*name, NodeKind::Kernel);
        }
    }

    #[test]
    fn a_race_reads_as_the_design_says() {
        let mut draft = Draft::new("Test");
        let data = draft.resource("data", Memory::Device);
        kernels(&mut draft, &["scale", "sum"]);
        let write = draft.access(0, data, Region::Whole, Mode::ReadWrite);
        let read = draft.access(1, data, Region::Whole, Mode::Read);
        draft.accesses[write].line = Some(12);
        draft.accesses[read].line = Some(13);
        let outcome = check(&draft);
        let expected = "nodes `scale` and `sum` can run at the same time and both access `data` [race]\n\
             note: `scale` writes `data` (line 12), `sum` reads it (line 13)\n\
             help: add `scale` to the `after` list of `sum`";
        assert_eq!(outcome.errors[0].to_string(), expected);
        assert_eq!(outcome.errors[0].subject, Subject::Access(read));
    }

    #[test]
    fn atomic_updates_race_with_all_but_each_other() {
        let outcome = |one, other| check(&two((Region::Whole, one), (Region::Whole, other)));
        assert_eq!(outcome(Mode::Atomic, Mode::Atomic).errors, []);
        let expected = "nodes `x` and `y` can run at the same time and both access `a` [race]\n\
             note: `x` atomically updates `a`, `y` reads it\n\
             help: write `after x` before the `;` of `y`";
        assert_eq!(outcome(Mode::Atomic, Mode::Read).errors[0].to_string(), expected);
        for plain in [Mode::Read, Mode::Write, Mode::ReadWrite] {
            assert_eq!(outcome(plain, Mode::Atomic).errors.len(), 1);
        }
    }

    /// Two kernels of a macro's text that use `a`.
    fn two(first: (Region, Mode), second: (Region, Mode)) -> Draft {
        let mut draft = Draft::new("Test");
        draft.is_text = true;
        draft.resource("a", Memory::Device);
        kernels(&mut draft, &["x", "y"]);
        draft.access(0, 0, first.0, first.1);
        draft.access(1, 0, second.0, second.1);
        draft
    }

    #[test]
    fn helps_of_races_say_where_to_write_and_what_else_would_do() {
        let help = |draft: &Draft| check(draft).errors[0].help.clone().unwrap_or_default();
        let (whole, part) = ((Region::Whole, Mode::Read), (Region::span(2, 4), Mode::ReadWrite));
        let expected = "write `after x` before the `;` of `y`, or write `after y` before the `;` of `x`";
        assert_eq!(help(&two(whole.clone(), part)), expected);
        let both = (Region::Whole, Mode::ReadWrite);
        let mut draft = two(both.clone(), both.clone());
        let expected = "write `after x` before the `;` of `y`, or give one of them a buffer of its own";
        assert_eq!(help(&draft), expected);
        draft.nodes[1].kind = NodeKind::If;
        assert_eq!(help(&draft), "write `after x` after the last `}` of `y`");
        let join = draft.node("j", NodeKind::Join);
        draft.edge(join, 1);
        let error = &check(&draft).errors[0];
        assert_eq!(error.notes[1], "`y` runs after `j`, but `j` does not run after `x`");
        assert_eq!(error.help.as_deref(), Some("add `x` to the `after` list of `y`"));
        let ranges = two(
            (Region::span(0, 129), Mode::ReadWrite),
            (Region::span(128, 4096), Mode::Read),
        );
        let error = &check(&ranges).errors[0];
        assert_eq!(error.notes[1], "both have `a[128]`");
        assert!(help(&ranges).ends_with(", or make the parts disjoint"));
    }

    #[test]
    fn parts_that_are_not_compared_are_told_so() {
        let symbol = |name: &str| crate::Bound::Symbol(name.into());
        let draft = two(
            (Region::Range(crate::Bound::Known(0), symbol("M")), Mode::ReadWrite),
            (Region::Range(symbol("K"), crate::Bound::End), Mode::Read),
        );
        let expected = "nodes `x` and `y` can run at the same time and both access `a` [race]\n\
             note: `x` writes `a[..M]`, `y` reads `a[K..]`\n\
             note: `M` and `K` are not compared here, so the parts may overlap\n\
             help: write `after x` before the `;` of `y`, or split both at the same constant";
        assert_eq!(check(&draft).errors[0].to_string(), expected);
    }

    #[test]
    fn the_edges_of_a_cycle_are_told_with_their_lines() {
        let mut draft = Draft::new("Test");
        draft.is_text = true;
        kernels(&mut draft, &["a", "b"]);
        draft.edge(0, 1);
        draft.edge(1, 0);
        draft.edge_lines = vec![Some(7), Some(8)];
        let error = &check(&draft).errors[0];
        let expected = "`b` runs after `a` (line 7), `a` runs after `b` (line 8)";
        assert_eq!(error.notes[0], expected);
        let expected = Some("remove one of these edges, for example: remove `after b` from `a`");
        assert_eq!(error.help.as_deref(), expected);
    }

    #[test]
    fn a_cycle_is_spelled_out_once_and_hides_no_other_mistake() {
        let mut draft = Draft::new("Test");
        let data = draft.resource("data", Memory::Device);
        kernels(&mut draft, &["a", "b", "c", "d", "e"]);
        draft.edge(1, 0);
        draft.edge(2, 1);
        draft.edge(0, 2);
        draft.access(0, data, Region::Whole, Mode::Write);
        draft.access(3, data, Region::Whole, Mode::Write);
        draft.access(4, data, Region::Whole, Mode::Write);
        let outcome = check(&draft);
        let expected = [Code::Cycle, Code::Race];
        assert_eq!(codes(&outcome), expected, "no race with a node of the cycle");
        let expected = "nodes run after each other in a cycle: `a` -> `c` -> `b` -> `a`";
        assert_eq!(outcome.errors[0].message, expected);
    }

    #[test]
    fn loops_and_repetitions_are_reported_once_each() {
        let mut draft = Draft::new("Test");
        kernels(&mut draft, &["a", "b"]);
        draft.edge(0, 1);
        draft.edge(1, 1);
        draft.edge(0, 1);
        let outcome = check(&draft);
        let found: Vec<_> = outcome.errors.iter().map(|error| (error.code, error.subject)).collect();
        assert_eq!(
            found,
            [
                (Code::SelfDependency, Subject::Edge(1)),
                (Code::DuplicateDependency, Subject::Edge(2))
            ]
        );
        assert_eq!(
            outcome.reduced(&draft).filter(|edge| edge.from != edge.to).count(),
            2,
            "reduction leaves wrong edges alone"
        );
    }

    #[test]
    fn aliases_and_host_memory_are_found_by_argument() {
        let mut draft = Draft::new("Test");
        let host = draft.resource("input", Memory::Host);
        let data = draft.resource("data", Memory::Device);
        kernels(&mut draft, &["a"]);
        draft.access(0, host, Region::Whole, Mode::Read);
        draft.access(0, data, Region::span(0, 4), Mode::Read);
        draft.access(0, data, Region::span(4, 8), Mode::ReadWrite);
        draft.access(0, data, Region::span(3, 5), Mode::Read);
        let outcome = check(&draft);
        let found: Vec<_> = outcome.errors.iter().map(|error| (error.code, error.subject)).collect();
        assert_eq!(
            found,
            [
                (Code::WrongMemory, Subject::Access(0)),
                (Code::AliasedArgument, Subject::Access(3))
            ]
        );
    }

    #[test]
    fn warnings_come_only_with_a_right_graph() {
        let mut draft = Draft::new("Test");
        let unused = draft.resource("unused", Memory::Device);
        kernels(&mut draft, &["a", "b", "c"]);
        draft.edge(0, 1);
        draft.edge(1, 2);
        let implied = draft.edge(0, 2);
        let outcome = check(&draft);
        let found: Vec<_> = outcome
            .warnings
            .iter()
            .map(|warning| (warning.code, warning.subject))
            .collect();
        assert_eq!(
            found,
            [
                (Code::UnusedResource, Subject::Resource(unused)),
                (Code::RedundantEdge, Subject::Edge(implied))
            ]
        );
        assert_eq!(outcome.warnings[1].notes, ["`c` runs after `b`, which runs after `a`"]);
        assert_eq!(outcome.reduced(&draft).count(), 2);
        draft.edge(1, 1);
        assert!(check(&draft).warnings.is_empty());
    }

    #[test]
    fn edges_beside_a_cycle_order_their_nodes() {
        let mut draft = Draft::new("Test");
        let data = draft.resource("data", Memory::Device);
        kernels(&mut draft, &["a", "b", "c", "d"]);
        for (from, to) in [(0, 1), (1, 0), (2, 3)] {
            draft.edge(from, to);
        }
        draft.access(2, data, Region::Whole, Mode::Write);
        draft.access(3, data, Region::Whole, Mode::Write);
        assert_eq!(codes(&check(&draft)), [Code::Cycle]);
    }

    #[test]
    fn the_edge_without_which_no_race_begins_is_advised_unless_the_graph_is_large() {
        let advised = |nodes: usize| {
            let mut draft = Draft::new("Test");
            let data = draft.resource("data", Memory::Device);
            kernels(&mut draft, &["a", "b", "c", "d"]);
            for node in 4..nodes {
                draft.node(format!("j{node}"), NodeKind::Join);
            }
            for (from, to) in [(0, 1), (1, 2), (2, 0), (0, 3)] {
                draft.edge(from, to);
            }
            draft.access(2, data, Region::Whole, Mode::Write);
            draft.access(3, data, Region::Whole, Mode::Write);
            check(&draft).errors[0].subject
        };
        // Without the edge from `c` to `a`, `c` and `d` race.
        assert_eq!(advised(4), Subject::Edge(1));
        assert_eq!(advised(1 << 10), Subject::Edge(1));
        assert_eq!(
            advised((1 << 10) + 1),
            Subject::Edge(2),
            "the edge that closes the cycle"
        );
    }

    #[test]
    fn parts_of_which_one_is_unknown_are_not_said_to_be_comparable() {
        let symbol = |name: &str| crate::Bound::Symbol(name.into());
        let notes = |parts: [crate::Bound; 2]| {
            let mut draft = Draft::new("Test");
            draft.resource("x", Memory::Device);
            kernels(&mut draft, &["k"]);
            for part in parts {
                draft.access(0, 0, Region::Index(part), Mode::ReadWrite);
            }
            check(&draft).errors.remove(0).notes.len()
        };
        assert_eq!(notes([symbol("I"), symbol("J")]), 2);
        assert_eq!(notes([symbol("I"), crate::Bound::Unknown]), 1);
        assert_eq!(notes([crate::Bound::Unknown, symbol("J")]), 1);
    }

    #[test]
    fn what_follows_a_broken_node_is_not_a_race() {
        let mut draft = Draft::new("Test");
        let data = draft.resource("data", Memory::Device);
        kernels(&mut draft, &["a", "b", "c"]);
        draft.nodes[1].broken = true;
        draft.edge(1, 2);
        draft.access(0, data, Region::Whole, Mode::Write);
        draft.access(2, data, Region::Whole, Mode::Write);
        assert!(check(&draft).errors.is_empty());
    }

    /// `choice` with a body each way, on one resource.
    fn choice() -> (Draft, usize) {
        let mut draft = Draft::new("Test");
        let (flag, data) = (
            draft.resource("flag", Memory::Device),
            draft.resource("data", Memory::Device),
        );
        let choice = draft.node("choice", NodeKind::If);
        draft.access(choice, flag, Region::Whole, Mode::Read);
        for (role, name) in [(Role::Then, "then"), (Role::Else, "otherwise")] {
            let body = draft.body(choice, role);
            let node = draft.node_in(body, name, NodeKind::Kernel);
            draft.access(node, data, Region::Whole, Mode::ReadWrite);
        }
        (draft, data)
    }

    #[test]
    fn what_bodies_touch_belongs_to_their_node() {
        let (mut draft, data) = choice();
        let reader = draft.node("reader", NodeKind::Kernel);
        let read = draft.access(reader, data, Region::Whole, Mode::Read);
        let outcome = check(&draft);
        let expected = [Code::Race];
        assert_eq!(codes(&outcome), expected, "the two bodies never run at the same time");
        assert_eq!(outcome.errors[0].subject, Subject::Access(read));
        let expected = "nodes `choice` and `reader` can run at the same time and both access `data` [race]\n\
             note: `then`, in the body of `choice`, writes `data`, `reader` reads it\n\
             help: add `choice` to the `after` list of `reader`";
        assert_eq!(outcome.errors[0].to_string(), expected);
        draft.edge(0, reader);
        assert!(check(&draft).errors.is_empty());
    }

    #[test]
    fn nodes_of_one_body_race() {
        let (mut draft, data) = choice();
        let other = draft.node_in(1, "other", NodeKind::Kernel);
        draft.access(other, data, Region::Whole, Mode::Read);
        let outcome = check(&draft);
        assert_eq!(codes(&outcome), [Code::Race]);
        let expected = Some("add `then` to the `after` list of `other`");
        assert_eq!(outcome.errors[0].help.as_deref(), expected);
    }

    #[test]
    fn conditional_bodies_hold_no_host_functions() {
        let (mut draft, _) = choice();
        let child = draft.node_in(2, "child", NodeKind::Graph);
        let body = draft.body(child, Role::Child);
        let call = draft.node_in(body, "print", NodeKind::Call);
        draft.node("outside", NodeKind::Call);
        let outcome = check(&draft);
        let found: Vec<_> = outcome.errors.iter().map(|error| (error.code, error.subject)).collect();
        assert_eq!(found, [(Code::ConditionalBody, Subject::Node(call))]);
        let expected = "call node `print` cannot be in the body of `choice`";
        assert_eq!(outcome.errors[0].message, expected);
    }

    #[test]
    fn conditional_bodies_hold_captures_of_what_cuda_runs_there() {
        let (mut draft, _) = choice();
        let outside = draft.node("outside", NodeKind::Capture);
        let child = draft.node_in(2, "child", NodeKind::Graph);
        let body = draft.body(child, Role::Child);
        let inside = draft.node_in(body, "inside", NodeKind::Capture);
        assert!(check(&draft).errors.is_empty());
        assert_eq!(forbidden_capture(&draft, outside, "a host function"), None);
        let error = forbidden_capture(&draft, inside, "a host function").expect("it is in a body");
        let expected = (Code::ConditionalBody, Subject::Node(inside));
        assert_eq!((error.code, error.subject), expected);
        let expected = "capture node `inside` captured a host function, which cannot be in the body of `choice`";
        assert_eq!(error.message, expected);
    }

    #[test]
    fn a_while_must_write_its_condition() {
        let mut draft = Draft::new("Test");
        let flag = draft.resource("flag", Memory::Device);
        let set = draft.node("set", NodeKind::Memset);
        draft.access(set, flag, Region::Whole, Mode::Write);
        let repeat = draft.node("repeat", NodeKind::While);
        draft.access(repeat, flag, Region::Whole, Mode::Read);
        let body = draft.body(repeat, Role::While);
        draft.edge(set, repeat);
        let step = draft.node_in(body, "step", NodeKind::Kernel);
        let outcome = check(&draft);
        assert_eq!(codes(&outcome), [Code::EndlessWhile]);
        assert_eq!(outcome.errors[0].subject, Subject::Node(repeat));
        draft.bodies[body].broken = true;
        assert!(check(&draft).errors.is_empty(), "who knows what could not be read");
        draft.bodies[body].broken = false;
        draft.access(step, flag, Region::Whole, Mode::ReadWrite);
        assert!(check(&draft).errors.is_empty());
    }

    #[test]
    fn the_condition_that_a_help_names_is_that_of_the_body() {
        let (mut draft, _) = choice();
        draft.node_in(1, "print", NodeKind::Call);
        let help = check(&draft).errors.remove(0).help.unwrap_or_default();
        assert!(help.contains("`memcpy` `flag` to `host` memory"), "{help}");
        assert!(!help.contains("remove `choice`"), "it has other nodes: {help}");
    }

    #[test]
    fn a_broken_body_elsewhere_hides_no_endless_while() {
        let mut draft = Draft::new("Test");
        let flag = draft.resource("flag", Memory::Device);
        for name in ["one", "other"] {
            let repeat = draft.node(name, NodeKind::While);
            draft.access(repeat, flag, Region::Whole, Mode::Read);
            draft.body(repeat, Role::While);
        }
        draft.bodies[2].broken = true;
        let errors = check(&draft).errors;
        let subjects: Vec<_> = errors.iter().map(|error| (error.code, error.subject)).collect();
        assert_eq!(subjects, [(Code::EndlessWhile, Subject::Node(0))]);
    }

    #[test]
    fn a_disabled_node_ends_no_while() {
        let mut draft = Draft::new("Test");
        let flag = draft.resource("flag", Memory::Device);
        let repeat = draft.node("repeat", NodeKind::While);
        draft.access(repeat, flag, Region::Whole, Mode::Read);
        let body = draft.body(repeat, Role::While);
        let stop = draft.node_in(body, "stop", NodeKind::Memset);
        draft.access(stop, flag, Region::Whole, Mode::Write);
        draft.nodes[stop].disabled = true;
        let errors = check(&draft).errors;
        let expected = "no node in the body of `repeat` writes its condition `flag` [endless-while]\n\
             note: once it has begun, it would never end\n\
             note: `stop` writes it, but is disabled\n\
             help: remove `#[disabled]` from `stop`";
        assert_eq!(errors[0].to_string(), expected);
        draft.nodes[stop].disabled = false;
        draft.nodes[stop].partial = true;
        let text = check(&draft).errors[0].to_string();
        assert!(
            text.ends_with(
                "note: `stop` writes a part that updates choose, perhaps nothing\n\
                 help: write `flag` in another node of the body, or in `stop` without a `param`"
            ),
            "{text}"
        );
        let other = draft.node_in(body, "other", NodeKind::Memset);
        draft.access(other, flag, Region::Whole, Mode::Write);
        draft.edge(stop, other);
        assert_eq!(check(&draft).errors, []);
    }

    #[test]
    fn edges_between_bodies_name_the_nodes_that_could_be_ordered() {
        let (mut draft, _) = choice();
        let outside = draft.node("outside", NodeKind::Join);
        let deep = draft.node_in(1, "deep", NodeKind::If);
        let body = draft.body(deep, Role::Then);
        let inner = draft.node_in(body, "inner", NodeKind::Join);
        let [choice, then, otherwise] = [0, 1, 2];
        let help = |from, to| other_body(&draft, from, to, Subject::Node(to)).help.unwrap_or_default();
        let expected = "move `outside` from the `after` list of `inner` to the `after` list of `choice`";
        assert_eq!(help(outside, inner), expected);
        let expected = "name `choice` instead of `inner` in the `after` list of `outside`";
        assert_eq!(help(inner, outside), expected);
        let expected = "move `then` from the `after` list of `inner` to the `after` list of `deep`";
        assert_eq!(help(then, inner), expected);
        let remove = |from: &str, to: &str| {
            format!("remove `{from}` from the `after` list of `{to}`, or the whole `after` if it names nothing else")
        };
        assert_eq!(help(choice, inner), remove("choice", "inner"));
        assert_eq!(help(otherwise, then), remove("otherwise", "then"));
        assert_eq!(
            other_body(&draft, outside, then, Subject::Node(then)).to_string(),
            "node `then` cannot run after `outside`, which is in another body [unknown-node]\n\
             note: `outside` is in no body, `then` is in a body of `choice`\n\
             note: `after` orders nodes of one body, each with all that is in its own bodies\n\
             help: move `outside` from the `after` list of `then` to the `after` list of `choice`"
        );
    }

    #[test]
    fn nodes_of_two_bodies_are_ordered_by_the_nodes_around() {
        let (mut draft, _) = choice();
        let other = draft.node("other", NodeKind::If);
        let body = draft.body(other, Role::Then);
        let inner = draft.node_in(body, "inner", NodeKind::Join);
        assert_eq!(
            other_body(&draft, 1, inner, Subject::Node(inner)).help.as_deref(),
            Some("remove `then` from the `after` list of `inner`, and add `choice` to the `after` list of `other`")
        );
    }

    #[test]
    fn the_only_node_of_a_conditional_leaves_nothing_to_run() {
        let mut draft = Draft::new("Test");
        for name in ["one", "two"] {
            let node = draft.node(name, NodeKind::If);
            draft.body(node, Role::Then);
        }
        let call = draft.node_in(1, "print", NodeKind::Call);
        let help = |draft: &Draft| check(draft).errors.remove(0).help.unwrap_or_default();
        let empty = ", and remove `one`, which then runs nothing";
        draft.bodies[2].broken = true;
        assert!(help(&draft).contains(empty), "the other body does not count");
        draft.bodies[1].broken = true;
        assert!(!help(&draft).contains(empty), "who knows what could not be read");
        draft.bodies[1].broken = false;
        draft.node_in(2, "beside", NodeKind::Join);
        assert!(help(&draft).contains(empty));
        draft.node_in(1, "with", NodeKind::Join);
        assert!(
            !help(&draft).contains(empty),
            "`{}` is not alone",
            draft.nodes[call].name
        );
    }

    #[test]
    fn edges_between_bodies_say_where_the_nodes_are() {
        let (draft, _) = choice();
        let [choice, then, otherwise] = [0, 1, 2];
        let text = |from, to| {
            let diagnostic = other_body(&draft, from, to, Subject::Node(to));
            (diagnostic.message, diagnostic.notes[0].clone())
        };
        let expected = |message: &str, note: &str| (message.to_owned(), note.to_owned());
        assert_eq!(
            text(then, otherwise),
            expected(
                "node `otherwise` cannot run after `then`, which is in another body",
                "they are in different bodies of `choice`, of which only one runs"
            )
        );
        assert_eq!(
            text(choice, then),
            expected(
                "node `then` cannot run after `choice`, in a body of which it is",
                "`then` runs while `choice` does"
            )
        );
        assert_eq!(
            text(then, choice),
            expected(
                "node `choice` cannot run after `then`, which is in a body of its own",
                "`then` runs while `choice` does"
            )
        );
        assert_eq!(siblings(&draft, then, otherwise), Some((choice, choice)));
        assert_eq!(siblings(&draft, then, choice), None);
    }

    #[test]
    fn cycles_and_reduction_are_found_in_bodies() {
        let (mut draft, _) = choice();
        let [a, b, c] = ["a", "b", "c"].map(|name| draft.node_in(1, name, NodeKind::Join));
        draft.edge(a, b);
        draft.edge(b, c);
        let implied = draft.edge(a, c);
        assert_eq!(check(&draft).redundant, [implied]);
        draft.edge(c, a);
        let outcome = check(&draft);
        assert_eq!(codes(&outcome), [Code::Cycle]);
        assert!(outcome.errors[0].message.ends_with("`a` -> `c` -> `a`"));
    }

    #[test]
    fn reduction_is_of_plain_edges_beside_programmatic_ones() {
        let mut draft = Draft::new("Test");
        kernels(&mut draft, &["a", "b", "c", "d"]);
        let edges = [(0, 1), (1, 2), (0, 2)].map(|(from, to)| draft.edge(from, to));
        draft.programmatic_edge(2, 3);
        assert_eq!(check(&draft).redundant, edges[2..]);
    }

    #[test]
    fn reduction_leaves_paths_through_programmatic_edges_alone() {
        let mut draft = Draft::new("Test");
        kernels(&mut draft, &["a", "b", "c", "d"]);
        draft.edge(0, 1);
        draft.programmatic_edge(1, 2);
        draft.edge(0, 2);
        draft.edge(2, 3);
        let implied = draft.edge(1, 3);
        assert!(check(&draft).redundant.is_empty());
        draft.programmatic.clear();
        assert_eq!(check(&draft).redundant, [2, implied]);
    }
}
