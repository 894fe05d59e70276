//! Pairs of unordered nodes that touch the same memory in ways that conflict: one of them writes, and not both do so by
//! atomic operations. In `race/`, `mend.rs` finds the edges that would order them.

mod mend;

pub(crate) use mend::{Mend, mends};

use crate::live_accesses::LiveAccesses;
use crate::{Access, Draft, Lists, Mode, Order};
use std::collections::{HashMap, HashSet};

/// Two accesses, by their index in [`Draft::accesses`], of different nodes with no path between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Race {
    /// The access of the node that was declared first.
    pub first: usize,
    /// The access of the other node.
    pub second: usize,
}

/// All races: one for each pair of nodes and resource, sorted by resource, then by node. Nodes that differ only in
/// their iteration numbers count as one node here, since mending one race of theirs means to mend all.
pub fn races(draft: &Draft, order: &Order) -> Vec<Race> {
    races_that(draft, order, |_| true)
}

/// As [`races`], of those for which `counts` holds: a pair of nodes may have one that does not, and one that does.
pub(crate) fn races_that(draft: &Draft, order: &Order, counts: impl Fn(&Race) -> bool) -> Vec<Race> {
    if race_free(draft, order) {
        return Vec::new();
    }
    let node = |access: usize| draft.accesses[access].node;
    let nodes = |race: &Race| (node(race.first), node(race.second));
    let by_resource = Lists::new(draft.resources.len(), || {
        draft.accesses.iter().map(|access| access.resource).zip(0..)
    });
    let declarations = declarations(draft);
    let mut all: Vec<Race> = Vec::new();
    for resource in 0..draft.resources.len() {
        let accesses: &[usize] = by_resource.of(resource);
        let mut found: Vec<Race> = Vec::new();
        let mut known = HashSet::new();
        for (index, &later) in accesses.iter().enumerate() {
            for &earlier in &accesses[..index] {
                let (a, b) = (&draft.accesses[earlier], &draft.accesses[later]);
                if !conflict(a, b) || order.ordered(a.node, b.node) {
                    continue;
                }
                let (first, second) = if a.node < b.node {
                    (earlier, later)
                } else {
                    (later, earlier)
                };
                let race = Race { first, second };
                let is_new = |of: &Vec<usize>| {
                    let (one, other) = (of[a.node], of[b.node]);
                    known.insert((one.min(other), one.max(other)))
                };
                if counts(&race) && declarations.as_ref().is_none_or(is_new) {
                    found.push(race);
                }
            }
        }
        found.sort_by_key(|race| (nodes(race), *race));
        found.dedup_by_key(|race| nodes(race));
        all.extend(found);
    }
    all
}

/// For each node of a graph whose loops are unrolled, a number that it shares with the nodes of other iterations.
fn declarations(draft: &Draft) -> Option<Vec<usize>> {
    if draft.numbers.is_empty() {
        return None;
    }
    let mut known: HashMap<(&str, bool), usize> = HashMap::new();
    let number = |node: usize| {
        let (name, numbers) = draft.name_and_numbers(node);
        *known.entry((name, numbers.is_empty())).or_insert(node)
    };
    Some((0..draft.nodes.len()).map(number).collect())
}

/// Whether the two accesses may disturb each other if nothing orders their nodes.
fn conflict(a: &Access, b: &Access) -> bool {
    a.node != b.node && a.mode.conflicts(b.mode) && a.region.overlaps(&b.region)
}

/// Whether an access of this mode is in conflict with everything that an access of the `other` mode is in conflict
/// with.
pub(crate) const fn as_strict(mode: Mode, other: Mode) -> bool {
    match mode {
        Mode::Write | Mode::ReadWrite => true,
        Mode::Read => matches!(other, Mode::Read),
        Mode::Atomic => matches!(other, Mode::Atomic),
        Mode::Mapped => matches!(other, Mode::Mapped),
    }
}

/// Whether there is no race at all. Takes almost linear time for graphs without mistakes, so that builds are fast: an
/// access is compared only with those that are near in memory.
///
/// Nodes are visited in topological order, and each resource keeps its live accesses. An access is dropped once a later
/// access, ordered after it, covers it and is in conflict with everything that it is in conflict with. No race is
/// missed: an access that races with the dropped one is in conflict with the later one too, and is not ordered after
/// that, since it would be ordered after the dropped one.
fn race_free(draft: &Draft, order: &Order) -> bool {
    let mut live: Vec<LiveAccesses> = vec![LiveAccesses::default(); draft.resources.len()];
    let mut is_free = |index: usize| {
        let access = &draft.accesses[index];
        let live = &mut live[access.resource];
        // The usual case of what follows: a node uses all of the memory after another one.
        if let Some(only) = live.only_under(&access.region)
            && let other = &draft.accesses[*only]
            && as_strict(access.mode, other.mode)
            && order.before(other.node, access.node)
        {
            *only = index;
            return true;
        }
        let mut is_free = true;
        live.retain_near(&access.region, |other| {
            let other = &draft.accesses[other];
            let is_before = order.before(other.node, access.node);
            is_free &= is_before || !conflict(other, access);
            let is_over = other.node == access.node || is_before;
            // Where a loop has no iterations, its affine regions conflict with nothing.
            let is_there = !access.region.is_affine() || access.region == other.region;
            let covers = is_there && access.region.covers(&other.region);
            !(is_over && as_strict(access.mode, other.mode) && covers)
        });
        live.insert(&access.region, index);
        is_free
    };
    if order.sequence().is_sorted() && draft.accesses.is_sorted_by_key(|access| access.node) {
        return (0..draft.accesses.len()).all(is_free); // the usual case: declared in order
    }
    let ranges = draft.access_ranges();
    let mut nodes = order.sequence().iter();
    nodes.all(|&node| ranges[node].clone().all(&mut is_free))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::tests::{graphs, reachable};
    use crate::{Edge, Memory, Mode, NodeKind, Region};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    pub(super) fn draft(nodes: usize, edges: &[Edge], accesses: &[(usize, usize, Region, Mode)]) -> Draft {
        let mut draft = Draft::new("Test");
        let resources = accesses.iter().map(|access| access.1 + 1).max().unwrap_or(0);
        for index in 0..resources {
            draft.resource(format!("r{index}"), Memory::Device);
        }
        draft.edges = edges.to_vec();
        for node in 0..nodes {
            draft.node(format!("n{node}"), NodeKind::Kernel);
            for (_, resource, region, mode) in accesses.iter().filter(|access| access.0 == node) {
                draft.access(node, *resource, region.clone(), *mode);
            }
        }
        draft
    }

    pub(super) fn drafts() -> impl Strategy<Value = Draft> {
        let mode = prop_oneof![
            Just(Mode::Read),
            Just(Mode::Write),
            Just(Mode::ReadWrite),
            Just(Mode::Atomic)
        ];
        let region = prop_oneof![
            1 => Just(Region::Whole),
            3 => (0_u64..6, 0_u64..6).prop_map(|(a, b)| Region::span(a.min(b), a.max(b))),
        ];
        graphs().prop_flat_map(move |(nodes, edges)| {
            let access = (0..nodes, 0..4_usize, region.clone(), mode.clone());
            prop::collection::vec(access, 0..2 * nodes).prop_map(move |accesses| draft(nodes, &edges, &accesses))
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]
        #[test]
        fn races_equal_the_oracle(draft in drafts()) {
            let Some(order) = Order::new(draft.nodes.len(), &draft.edges) else { return Ok(()) };
            let reach = reachable(draft.nodes.len(), &draft.edges);
            let bytes = |region: &Region| match region {
                Region::Range(crate::Bound::Known(a), crate::Bound::Known(b)) => *a..*b,
                _ => 0..6,
            };
            let mut expected = BTreeSet::new();
            for a in &draft.accesses {
                for b in &draft.accesses {
                    let meet = bytes(&a.region).any(|byte| bytes(&b.region).contains(&byte));
                    let apart = a.node < b.node && !reach[a.node][b.node] && !reach[b.node][a.node];
                    let harmless = matches!(
                        (a.mode, b.mode),
                        (Mode::Read, Mode::Read) | (Mode::Atomic, Mode::Atomic)
                    );
                    if a.resource == b.resource && meet && apart && !harmless {
                        expected.insert((a.resource, a.node, b.node));
                    }
                }
            }
            let found = races(&draft, &order);
            let key = |race: &Race| {
                let (a, b) = (&draft.accesses[race.first], &draft.accesses[race.second]);
                (a.resource, a.node, b.node)
            };
            prop_assert_eq!(found.iter().map(key).collect::<BTreeSet<_>>(), expected.clone());
            prop_assert_eq!(found.len(), expected.len(), "each once");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]
        /// Graphs so small that many have no race, or one alone.
        #[test]
        fn a_single_race_is_missed_by_no_shortcut(
            joined in prop::array::uniform3(any::<bool>()),
            accesses in prop::collection::vec((0_usize..3, 0_u64..3, 1_u64..3, 0_usize..4), 2..5),
        ) {
            let pairs = [(0, 1), (0, 2), (1, 2)].into_iter().zip(joined);
            let edges = pairs.filter(|(_, joined)| *joined).map(|((from, to), _)| Edge { from, to });
            let edges: Vec<Edge> = edges.collect();
            let modes = [Mode::Read, Mode::Write, Mode::ReadWrite, Mode::Atomic];
            let access = |&(node, start, len, mode): &(usize, u64, u64, usize)| {
                (node, 0, Region::span(start, start + len), modes[mode])
            };
            let accesses: Vec<_> = accesses.iter().map(access).collect();
            let draft = draft(3, &edges, &accesses);
            let order = Order::new(3, &edges).expect("edges lead forward");
            let any = draft.accesses.iter().any(|a| {
                draft.accesses.iter().any(|b| conflict(a, b) && !order.ordered(a.node, b.node))
            });
            prop_assert_eq!(race_free(&draft, &order), !any);
        }
    }

    #[test]
    fn iterations_of_one_declaration_race_once() {
        let mut draft = draft(0, &[], &[]);
        draft.resource("data", Memory::Device);
        for name in ["k[0]", "k[1]", "k[2]", "k"] {
            let node = draft.node(name, NodeKind::Kernel);
            draft.set_numbers(node, usize::from(name != "k"));
            draft.access(node, 0, Region::Whole, Mode::Write);
        }
        let order = Order::new(4, &[]).expect("it has no edges");
        let found = races(&draft, &order);
        let expected = [(0, 1), (0, 3)].map(|(first, second)| Race { first, second });
        assert_eq!(
            found, expected,
            "of the iterations, and of them and the node of their name"
        );
    }
}
