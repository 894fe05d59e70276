//! `after auto`: the edges that the accesses of nodes imply, in the order of the text.
//!
//! A node that asks for it runs after each node before it in its body with whose accesses its own conflict: a reader
//! after the last writers, a writer after the last writers and all readers since; a collective after the collectives
//! before it, over whatever communicators. [`check`](crate::check) proves the draft with these edges like any other, so
//! nothing depends on them being enough.

use crate::live_accesses::LiveAccesses;
use crate::race::as_strict;
use crate::{Code, Diagnostic, Draft, Edge, Order, Subject};

/// An iteration of a loop that is unrolled: a number of the loop, and the number of the iteration.
pub type Iteration = (usize, usize);

/// Adds to the draft the edges that the accesses of its [`auto`](crate::Node::auto) nodes imply. Edges that are there
/// already, or that paths of others imply, are not added, and none is added between two iterations of one loop.
///
/// `iterations` has for each node the unrolled loops around it, from the outermost. Nodes after the last entry are in
/// none, as are all nodes of a text, whose loops are not unrolled.
///
/// Edges that were written may lead back in the text. If one contradicts an edge that is implied, both stay, and
/// [`check`](crate::check) reports the cycle.
pub fn infer(draft: &mut Draft, iterations: &[Vec<Iteration>]) {
    if !(0..draft.nodes.len()).any(|node| is_auto(draft, node)) {
        return;
    }
    let inner = draft.inner_accesses();
    let members = draft.members();
    let with_collectives = with_collectives(draft);
    for body in members {
        if !body.iter().any(|&node| is_auto(draft, node)) {
            continue;
        }
        let mut implied = implied(draft, &body, &inner, iterations);
        implied.extend(between_collectives(draft, &body, &with_collectives, iterations));
        implied.sort_unstable();
        implied.dedup();
        for edge in missing(draft, &body, implied) {
            draft.inferred_edge(edge.from, edge.to);
        }
    }
}

/// The mistake that a node which accesses no memory, and names no other node, is to run after those that its accesses
/// imply.
pub fn nothing_to_infer(draft: &Draft, node: usize) -> Diagnostic {
    let name = &draft.nodes[node].name;
    let message = format!("node `{name}` accesses no memory, so `after auto` orders it with no other");
    Diagnostic::new(Code::UnknownNode, Subject::Node(node), message).help("name the nodes that it runs after")
}

fn is_auto(draft: &Draft, node: usize) -> bool {
    draft.auto || draft.nodes[node].auto
}

/// The edges of a body that accesses imply, but for some that others of them imply.
///
/// Nodes are visited in the order of the text, and each resource keeps its live accesses. An access is dropped once a
/// later access covers it, is in conflict with everything that it is in conflict with, and has an edge from it: each
/// later node that it is in conflict with gets an edge from that later access, too.
fn implied(draft: &Draft, body: &[usize], inner: &[Vec<usize>], iterations: &[Vec<Iteration>]) -> Vec<Edge> {
    let accesses = body
        .iter()
        .flat_map(|&node| inner[node].iter().map(move |&access| (node, access)));
    let accesses: Vec<(usize, usize)> = accesses.collect();
    let mut live = vec![LiveAccesses::default(); draft.resources.len()];
    let mut found = Vec::new();
    let around = |node: usize| iterations.get(node).map_or(&[][..], Vec::as_slice);
    for (index, &(node, access)) in accesses.iter().enumerate() {
        let access = &draft.accesses[access];
        let live = &mut live[access.resource];
        live.retain_near(&access.region, |other| {
            let (earlier, other) = accesses[other];
            let other = &draft.accesses[other];
            let is_own = earlier == node;
            let conflicts = access.mode.conflicts(other.mode) && access.region.overlaps(&other.region);
            let is_ordered = !is_own && is_auto(draft, node) && conflicts && !are_apart(around(earlier), around(node));
            if is_ordered {
                found.push(Edge {
                    from: earlier,
                    to: node,
                });
            }
            // A node of another iteration than this one gets no edge from here, but may get one from the other.
            let stands_for = is_own || is_ordered && around(earlier).starts_with(around(node));
            // Where a loop has no iterations, its affine regions conflict with nothing.
            let is_there = !access.region.is_affine() || access.region == other.region;
            let covers = is_there && access.region.covers(&other.region);
            !(stands_for && as_strict(access.mode, other.mode) && covers)
        });
        live.insert(&access.region, index);
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Whether each node is a collective, or has one in its bodies.
fn with_collectives(draft: &Draft) -> Vec<bool> {
    let mut found = vec![false; draft.nodes.len()];
    for collective in &draft.collectives {
        found[collective.node] = true;
        let owners = draft
            .bodies_around(collective.node)
            .filter_map(|body| draft.bodies[body].node);
        owners.for_each(|owner| found[owner] = true);
    }
    found
}

/// The edges of a body by which collectives run after those before them.
fn between_collectives(
    draft: &Draft,
    body: &[usize],
    with_collectives: &[bool],
    iterations: &[Vec<Iteration>],
) -> Vec<Edge> {
    let around = |node: usize| iterations.get(node).map_or(&[][..], Vec::as_slice);
    let (mut live, mut found) = (Vec::new(), Vec::new());
    for &node in body.iter().filter(|&&node| with_collectives[node]) {
        if is_auto(draft, node) {
            live.retain(|&earlier: &usize| {
                let is_ordered = !are_apart(around(earlier), around(node));
                if is_ordered {
                    found.push(Edge {
                        from: earlier,
                        to: node,
                    });
                }
                // As for accesses: the later node stands for the earlier one, but not in other iterations.
                !(is_ordered && around(earlier).starts_with(around(node)))
            });
        }
        live.push(node);
    }
    found
}

/// Whether two nodes are in different iterations of one loop.
fn are_apart(first: &[Iteration], second: &[Iteration]) -> bool {
    let mut both = first.iter().zip(second);
    let different = both.find(|(first, second)| first != second);
    different.is_some_and(|(first, second)| first.0 == second.0)
}

/// The edges of `implied` that no path of the draft's edges and of others of them implies.
fn missing(draft: &Draft, body: &[usize], implied: Vec<Edge>) -> Vec<Edge> {
    let local = |node: usize| body.binary_search(&node).ok();
    let of_body = |edge: &Edge| Some((local(edge.from)?, local(edge.to)?));
    let written = draft
        .edges
        .iter()
        .filter(|edge| edge.from != edge.to)
        .filter_map(of_body);
    let mut edges: Vec<Edge> = written.map(|(from, to)| Edge { from, to }).collect();
    let first = edges.len();
    edges.extend(implied.iter().filter_map(of_body).map(|(from, to)| Edge { from, to }));
    let order = Order::new(body.len(), &edges);
    let is_missing = |&index: &usize| match &order {
        Some(order) => order.redundant().binary_search(&(first + index)).is_err(),
        None => !edges[..first].contains(&edges[first + index]),
    };
    (0..implied.len())
        .filter(is_missing)
        .map(|index| implied[index])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::tests::reachable;
    use crate::test_draft::{draft_of, edges};
    use crate::{Memory, Mode, NodeKind, Region, check, race};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    const CELLS: u64 = 6;

    /// The cells of a region.
    fn cells(region: &Region) -> std::ops::Range<u64> {
        match region {
            Region::Range(crate::Bound::Known(start), crate::Bound::Known(end)) => *start..*end,
            _ => 0..CELLS,
        }
    }

    /// Programs of one body. Edges that are written lead forward in the text. All nodes are `auto`, or some.
    fn programs(parts: bool) -> impl Strategy<Value = Draft> {
        const MODES: [Mode; 4] = [Mode::Read, Mode::Write, Mode::ReadWrite, Mode::Atomic];
        let region = (any::<bool>(), 0..CELLS, 1..CELLS).prop_map(move |(whole, start, len)| match whole || !parts {
            true => Region::Whole,
            false => Region::span(start, (start + len).min(CELLS)),
        });
        let access = (0_usize..3, region, prop::sample::select(&MODES[..]));
        let node = (prop::collection::vec(access, 0..3), prop::bool::weighted(0.7));
        let edges = prop::collection::vec((0_usize..14, 1_usize..14, any::<bool>()), 0..6);
        (prop::collection::vec(node, 1..14), any::<bool>(), edges).prop_map(|(nodes, all, edges)| {
            let mut draft = Draft::new("Test");
            for name in ["x", "y", "z"] {
                draft.resource(name, Memory::Device);
            }
            draft.auto = all;
            for (index, (accesses, auto)) in nodes.iter().enumerate() {
                let node = draft.node(format!("n{index}"), NodeKind::Kernel);
                draft.nodes[node].auto = *auto;
                for (resource, region, mode) in accesses {
                    draft.access(node, *resource, region.clone(), *mode);
                }
            }
            for (from, to, programmatic) in edges {
                if from < to && to < nodes.len() && !draft.edges.contains(&Edge { from, to }) {
                    match programmatic {
                        true => draft.programmatic_edge(from, to),
                        false => draft.edge(from, to),
                    };
                }
            }
            draft
        })
    }

    fn inferred(draft: &Draft) -> Vec<Edge> {
        draft.inferred.iter().map(|&index| draft.edges[index]).collect()
    }

    /// The memory after all nodes have run in this sequence. Each node writes a value that depends on all that it has
    /// read; atomic operations add, so that their order does not matter.
    fn run(draft: &Draft, sequence: &[usize]) -> Vec<u64> {
        let mut memory: Vec<u64> = (0..3 * CELLS).collect();
        let mix = |state: u64, value: u64| (state ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
        for &node in sequence {
            let own = || draft.accesses.iter().filter(|access| access.node == node);
            let places = |access: &crate::Access| {
                let first = access.resource as u64 * CELLS;
                cells(&access.region).map(move |cell| (first + cell) as usize)
            };
            let mut state = node as u64;
            for access in own().filter(|access| matches!(access.mode, Mode::Read | Mode::ReadWrite)) {
                state = places(access).fold(state, |state, place| mix(state, memory[place]));
            }
            for access in own().filter(|access| access.mode.writes()) {
                for place in places(access) {
                    memory[place] = match access.mode {
                        // The value does not depend on what was read: another atomic operation may come before.
                        Mode::Atomic => memory[place].wrapping_add(mix(node as u64, place as u64)),
                        _ => mix(state, place as u64),
                    };
                }
            }
        }
        memory
    }

    /// A sequence that the edges allow, which `choices` select.
    fn some_sequence(draft: &Draft, choices: &[usize]) -> Vec<usize> {
        let mut left: Vec<usize> = (0..draft.nodes.len()).collect();
        let mut sequence = Vec::new();
        while !left.is_empty() {
            let is_ready = |node: &usize| {
                !draft
                    .edges
                    .iter()
                    .any(|edge| edge.to == *node && left.contains(&edge.from))
            };
            let ready: Vec<usize> = left.iter().copied().filter(is_ready).collect();
            let next = ready[choices[sequence.len() % choices.len()] % ready.len()];
            left.retain(|&node| node != next);
            sequence.push(next);
        }
        sequence
    }

    /// The edges of CUDASTF's rule, by which each reader runs after the last writer, and each writer after the last
    /// writer and all readers since. It knows no parts and no atomic operations.
    fn of_rule(draft: &Draft) -> BTreeSet<Edge> {
        let mut found = BTreeSet::new();
        for resource in 0..draft.resources.len() {
            let (mut writer, mut readers) = (None, Vec::new());
            for node in 0..draft.nodes.len() {
                let own = || {
                    draft
                        .accesses
                        .iter()
                        .filter(|access| (access.node, access.resource) == (node, resource))
                };
                if own().any(|access| access.mode.writes()) {
                    let before = readers.drain(..).chain(writer);
                    found.extend(before.map(|from| Edge { from, to: node }));
                    writer = Some(node);
                } else if own().next().is_some() {
                    found.extend(writer.map(|from| Edge { from, to: node }));
                    readers.push(node);
                }
            }
        }
        found
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1024))]

        #[test]
        fn every_order_gives_the_memory_of_the_text(
            draft in programs(true),
            choices in prop::collection::vec(any::<usize>(), 14),
        ) {
            let mut draft = draft;
            draft.auto = true;
            infer(&mut draft, &[]);
            let text: Vec<usize> = (0..draft.nodes.len()).collect();
            prop_assert_eq!(run(&draft, &some_sequence(&draft, &choices)), run(&draft, &text));
            // A node may get one part twice, which is another mistake.
            let errors = check(&draft).errors;
            prop_assert!(errors.iter().all(|error| error.code == Code::AliasedArgument), "{:?}", errors);
        }

        #[test]
        fn a_node_that_asks_runs_after_all_that_conflict(draft in programs(true)) {
            let mut draft = draft;
            infer(&mut draft, &[]);
            let reach = reachable(draft.nodes.len(), &draft.edges);
            for (second, b) in draft.accesses.iter().enumerate().filter(|(_, b)| is_auto(&draft, b.node)) {
                for a in draft.accesses[..second].iter().filter(|a| a.node < b.node) {
                    let meet = cells(&a.region).any(|cell| cells(&b.region).contains(&cell));
                    if a.resource == b.resource && meet && a.mode.conflicts(b.mode) {
                        prop_assert!(reach[a.node][b.node], "{} and {}", a.node, b.node);
                    }
                }
            }
        }

        #[test]
        fn no_inferred_edge_can_be_left_out(draft in programs(true)) {
            let written = draft.edges.len();
            let mut draft = draft;
            infer(&mut draft, &[]);
            let outcome = check(&draft);
            prop_assert!(outcome.redundant.iter().all(|&index| index < written));
            let races = |draft: &Draft| {
                let order = Order::new(draft.nodes.len(), &draft.edges).expect("edges lead forward");
                race::races(draft, &order).len()
            };
            let all = races(&draft);
            for edge in inferred(&draft) {
                let mut less = draft.clone();
                less.retain_edges(|other| other != edge);
                prop_assert_eq!(less.inferred.len() + 1, draft.inferred.len());
                prop_assert!(races(&less) > all, "{:?}", edge);
            }
        }

        #[test]
        fn no_more_edges_than_by_the_rule_of_last_writers(draft in programs(false)) {
            let mut draft = draft;
            draft.auto = true;
            draft.retain_edges(|_| false);
            for access in &mut draft.accesses {
                if access.mode == Mode::Atomic {
                    access.mode = Mode::ReadWrite; // the rule orders atomic operations with each other, too
                }
            }
            let rule = of_rule(&draft);
            infer(&mut draft, &[]);
            prop_assert!(draft.edges.len() <= rule.len(), "{:?} {:?}", draft.edges, rule);
        }

        #[test]
        fn inferring_again_adds_nothing(draft in programs(true)) {
            let mut draft = draft;
            infer(&mut draft, &[]);
            let edges = draft.edges.clone();
            infer(&mut draft, &[]);
            prop_assert_eq!(draft.edges, edges);
        }
    }

    #[test]
    fn only_nodes_that_ask_get_edges() {
        let mut draft = draft_of("device x; kernel a: x=; kernel b: x; kernel c: x; kernel d: x=;");
        draft.nodes[2].auto = true;
        infer(&mut draft, &[]);
        assert_eq!(inferred(&draft), edges([(0, 2)]));
        draft.auto = true;
        infer(&mut draft, &[]);
        assert_eq!(inferred(&draft), edges([(0, 2), (0, 1), (1, 3), (2, 3)]));
    }

    #[test]
    fn a_node_stands_for_all_that_its_bodies_access() {
        let mut draft = draft_of(
            "device x, y; kernel a: x=; if choice: x { kernel first: y*; kernel second: y*; } kernel last: y;",
        );
        draft.auto = true;
        infer(&mut draft, &[]);
        assert_eq!(inferred(&draft), edges([(0, 1), (1, 4), (2, 3)]));
        assert_eq!(check(&draft).errors, []);
    }

    #[test]
    fn iterations_are_not_ordered_with_each_other() {
        let mut draft =
            draft_of("device x; kernel a0: x=; kernel b0: x; kernel a1: x=; kernel b1: x; kernel last: x=;");
        draft.auto = true;
        let iterations = [0, 0, 1, 1].map(|number| vec![(7, number)]);
        infer(&mut draft, &iterations);
        assert_eq!(inferred(&draft), edges([(0, 1), (1, 4), (2, 3), (3, 4)]));
    }

    /// `a0` stands for `first`, but not for `a1`, which is not ordered with `a0`.
    #[test]
    fn each_iteration_runs_after_what_is_before_the_loop() {
        let mut draft = draft_of("device x; kernel first: x=; kernel a0: x=; kernel a1: x=;");
        draft.auto = true;
        infer(&mut draft, &[vec![], vec![(0, 0)], vec![(0, 1)]]);
        assert_eq!(inferred(&draft), edges([(0, 1), (0, 2)]));
    }

    #[test]
    fn an_edge_that_leads_back_is_a_cycle() {
        let mut draft = draft_of("device x; kernel a: x= after b; kernel b: x;");
        draft.edge_lines.push(Some(3));
        draft.nodes[1].auto = true;
        infer(&mut draft, &[]);
        let error = &check(&draft).errors[0];
        assert_eq!((error.code, error.subject), (Code::Cycle, Subject::Edge(0)));
        assert_eq!(
            error.notes[0],
            "`b` runs after `a` (`after auto`), `a` runs after `b` (line 3)"
        );
        let help = "remove one of these edges, for example: remove `b` from the `after` list of `a`";
        assert_eq!(error.help.as_deref(), Some(help));
    }

    #[test]
    fn collectives_come_one_after_the_other() {
        let mut draft = draft_of(
            "communicator world, row; device flag, x, y, z;
             all_reduce a: x* over world; if choose: flag { broadcast inside: y* over row; } all_reduce b: z* over world;",
        );
        infer(&mut draft, &[]);
        assert_eq!(check(&draft).errors.len(), 2);
        draft.auto = true;
        infer(&mut draft, &[]);
        assert_eq!(draft.edges, edges([(0, 1), (1, 3)]));
        assert_eq!(check(&draft).errors, []);
    }
}
