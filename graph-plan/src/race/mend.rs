//! The edges that would order racing nodes: as few as the author seems to have forgotten, so that each mistake is
//! reported once.

use super::Race;
use crate::{Draft, Order};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

/// The most pairs of nodes for which shared edges are searched; if there are more, each has an edge of its own.
const MAX_PAIRS: usize = 512;

/// The most groups of nodes at which a shared edge may begin or end.
const MAX_GROUPS: usize = 256;

/// One number is far less than another if this many times it is not more.
const FAR_FEWER: usize = 4;

/// Two nodes, in the order of their declaration.
type Pair = (usize, usize);

/// An edge that is missing, and the races that it would end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mend {
    /// The node that the edge would begin at.
    pub(crate) from: usize,
    /// The node that would run after it.
    pub(crate) to: usize,
    /// The race that tells most of those that the edge would end: that of its own nodes, or of the nearest.
    pub(crate) first: Race,
    /// The other races that it would end, nearest first.
    pub(crate) others: Vec<Race>,
}

/// The edges that would end all races of `all`, sorted by the resource and the nodes of their first race. Together with
/// the order they form no cycle. `may_join` tells if an edge may lead from a node to another if they do not race.
///
/// A missing edge leaves everything after its end unordered with everything before its beginning. So pairs are taken
/// nearest first, and a pair is dropped if the edges of the pairs taken before would order it. If the nodes of the
/// missing edge touch nothing themselves, several pairs are left, for example of one node and each node of a fan. Then
/// the edge is one that orders as many of them as possible: to a node that comes before all ends, from a node that
/// comes after all beginnings.
///
/// Levels say what is near. But what follows a missing edge of a chain begins at the first level again, and the end of
/// the chain before is far from there. Then the text says what is near, if that leaves far fewer edges.
pub(crate) fn mends(draft: &Draft, order: &Order, all: &[Race], may_join: impl Fn(usize, usize) -> bool) -> Vec<Mend> {
    let by_level = roots(draft, order, all, |race| nearness(draft, order, race));
    let by_level = mends_of(draft, order, by_level, &may_join);
    if by_level.len() < 2 {
        return by_level;
    }
    let by_text = roots(draft, order, all, |race| distance(draft, race));
    let by_text = mends_of(draft, order, by_text, &may_join);
    if FAR_FEWER * by_text.len() <= by_level.len() {
        by_text
    } else {
        by_level
    }
}

/// The edges that end these races.
fn mends_of(draft: &Draft, order: &Order, roots: Vec<Race>, may_join: impl Fn(usize, usize) -> bool) -> Vec<Mend> {
    // All races of two nodes end by one edge.
    let mut of_pairs: HashMap<Pair, Vec<Race>> = HashMap::new();
    let mut pairs = Vec::new();
    for race in roots {
        let pair = nodes(draft, &race);
        let races = of_pairs.entry(pair).or_default();
        if races.is_empty() {
            pairs.push(pair);
        }
        races.push(race);
    }
    let mut mends: Vec<Mend> = Vec::new();
    let mut add = |(from, to): Pair, ended: Vec<Race>| {
        let mut others = ended.into_iter();
        mends.extend(others.next().map(|first| Mend {
            from,
            to,
            first,
            others: others.collect(),
        }));
    };
    for (edge, mut ended) in shared(order, &pairs, may_join) {
        ended.sort_by_key(|&pair| pair != edge); // a race of the edge's own nodes tells most
        let races = ended.iter().flat_map(|pair| of_pairs.remove(pair).unwrap_or_default());
        add(edge, races.collect());
    }
    of_pairs.into_iter().for_each(|(pair, races)| add(pair, races));
    mends.sort_by_key(|mend| (draft.accesses[mend.first.first].resource, nodes(draft, &mend.first)));
    mends
}

/// The nodes of a race, the one that was declared first first.
fn nodes(draft: &Draft, race: &Race) -> Pair {
    (draft.accesses[race.first].node, draft.accesses[race.second].node)
}

/// The key by which races are sorted, nearest first.
fn nearness(draft: &Draft, order: &Order, race: &Race) -> (u64, (usize, usize), usize) {
    let (from, to) = nodes(draft, race);
    let distance = order.level(to) as i64 - order.level(from) as i64;
    (distance.unsigned_abs(), (from, to), draft.accesses[race.first].resource)
}

/// The key by which races are sorted, those of nodes that were declared near each other first.
fn distance(draft: &Draft, race: &Race) -> (usize, (usize, usize), usize) {
    let (from, to) = nodes(draft, race);
    (from.abs_diff(to), (from, to), draft.accesses[race.first].resource)
}

/// The races, nearest first, that are left if each race that the edges of earlier ones mend is dropped.
fn roots<K: Ord>(draft: &Draft, order: &Order, all: &[Race], nearness: impl Fn(&Race) -> K) -> Vec<Race> {
    let mut candidates: Vec<Race> = all.to_vec();
    candidates.sort_by_key(nearness);
    let mut kept: Vec<Race> = Vec::new();
    let mut edges: Vec<Pair> = Vec::new();
    for race in candidates {
        let (from, to) = nodes(draft, &race);
        if edges.contains(&(from, to)) {
            kept.push(race);
        } else if !path(order, &edges, from, to) && !path(order, &edges, to, from) {
            kept.push(race);
            edges.push((from, to));
        }
    }
    kept
}

/// Edges that each order several of the pairs, the one that orders most first, with those pairs. No pair is ordered by
/// two of them.
fn shared(order: &Order, pairs: &[Pair], may_join: impl Fn(usize, usize) -> bool) -> Vec<(Pair, Vec<Pair>)> {
    if pairs.len() < 2 || pairs.len() > MAX_PAIRS {
        return Vec::new();
    }
    let reaches = |first: usize, second: usize| first == second || order.before(first, second);
    // The earliest node orders least, of those that come after the same beginnings; the latest does, of those before
    // the same ends.
    let beginnings = groups(order.sequence().iter(), pairs, |node, (from, _)| reaches(from, node));
    let endings = groups(order.sequence().iter().rev(), pairs, |node, (_, to)| reaches(node, to));
    let mut found: Vec<(Pair, Vec<Pair>)> = Vec::new();
    let mut left = Set::of(0..pairs.len());
    loop {
        // Edges of other pairs must not lead back.
        let leads_back = |set: &Set, from: usize, to: usize| {
            let chosen = found.iter().map(|&(edge, _)| edge);
            let single = left.members().filter(|&pair| !set.contains(pair));
            let others: Vec<Pair> = chosen.chain(single.map(|pair| pairs[pair])).collect();
            path(order, &others, to, from)
        };
        let mut best: Option<(Set, (u32, Reverse<u32>), Pair)> = None;
        for &(from, ref after) in &beginnings {
            for &(to, ref before) in &endings {
                let set = left.and(after).and(before);
                // One that orders more pairs is better, or else one that touches fewer.
                let rank = (set.len(), Reverse(after.len() + before.len()));
                let is_better = best.as_ref().is_none_or(|(_, best, _)| rank > *best);
                if set.len() >= 2 && is_better && may_join(from, to) && !leads_back(&set, from, to) {
                    best = Some((set, rank, (from, to)));
                }
            }
        }
        let Some((set, _, edge)) = best else { return found };
        left = left.without(&set);
        found.push((edge, set.members().map(|pair| pairs[pair]).collect()));
    }
}

/// For each set of pairs that some node belongs to, the first such node. Sets of fewer than two pairs are left out.
fn groups<'a>(
    sequence: impl Iterator<Item = &'a usize>,
    pairs: &[Pair],
    belongs: impl Fn(usize, Pair) -> bool,
) -> Vec<(usize, Set)> {
    let mut known = HashSet::new();
    let mut found = Vec::new();
    for &node in sequence {
        let set = Set::of((0..pairs.len()).filter(|&pair| belongs(node, pairs[pair])));
        if set.len() >= 2 && found.len() < MAX_GROUPS && known.insert(set.clone()) {
            found.push((node, set));
        }
    }
    found
}

/// A set of small numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Set([u64; MAX_PAIRS / 64]);

impl Set {
    fn of(members: impl IntoIterator<Item = usize>) -> Self {
        let mut words = [0; MAX_PAIRS / 64];
        for member in members {
            words[member / 64] |= 1 << (member % 64);
        }
        Self(words)
    }

    fn contains(&self, member: usize) -> bool {
        self.0[member / 64] >> (member % 64) & 1 == 1
    }

    fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    fn members(&self) -> impl Iterator<Item = usize> + '_ {
        (0..MAX_PAIRS).filter(|&member| self.contains(member))
    }

    fn and(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] & other.0[word]))
    }

    fn without(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] & !other.0[word]))
    }
}

/// Whether a path leads from `from` to `to` over the order and the extra edges.
fn path(order: &Order, extra: &[Pair], from: usize, to: usize) -> bool {
    let reaches = |a: usize, b: usize| a == b || order.before(a, b);
    let mut seen = vec![false; extra.len()];
    let mut stack = vec![from];
    while let Some(node) = stack.pop() {
        if reaches(node, to) {
            return true;
        }
        for (index, &(start, end)) in extra.iter().enumerate() {
            if !seen[index] && reaches(node, start) {
                seen[index] = true;
                stack.push(end);
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::race::races;
    use crate::race::tests::{draft, drafts};
    use crate::{Edge, Mode, Region};
    use proptest::prelude::*;

    fn found(draft: &Draft) -> Vec<Mend> {
        let order = Order::new(draft.nodes.len(), &draft.edges).unwrap();
        mends(draft, &order, &races(draft, &order), |_, _| true)
    }

    fn ended(mend: &Mend) -> Vec<Race> {
        [mend.first].into_iter().chain(mend.others.iter().copied()).collect()
    }

    /// The edges, each with the nodes that race.
    fn edges(draft: &Draft) -> Vec<(Pair, Vec<Pair>)> {
        let racing = |mend: &Mend| ended(mend).iter().map(|race| nodes(draft, race)).collect();
        found(draft)
            .iter()
            .map(|mend| ((mend.from, mend.to), racing(mend)))
            .collect()
    }

    fn whole(node: usize, resource: usize, mode: Mode) -> (usize, usize, Region, Mode) {
        (node, resource, Region::Whole, mode)
    }

    fn chain(nodes: &[usize]) -> Vec<Edge> {
        let edge = |pair: &[usize]| Edge {
            from: pair[0],
            to: pair[1],
        };
        nodes.windows(2).map(edge).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn the_edges_end_all_races_and_form_no_cycle(draft in drafts()) {
            let Some(order) = Order::new(draft.nodes.len(), &draft.edges) else { return Ok(()) };
            let all = races(&draft, &order);
            let mends = mends(&draft, &order, &all, |_, _| true);
            prop_assert_eq!(mends.is_empty(), all.is_empty());
            for (index, mend) in mends.iter().enumerate() {
                prop_assert!(ended(mend).iter().all(|race| all.contains(race)));
                let again = mends[index + 1..].iter().any(|other| (other.from, other.to) == (mend.from, mend.to));
                prop_assert!(!again, "each edge once");
            }
            let mut mended = draft.clone();
            mended.edges.extend(mends.iter().map(|mend| Edge { from: mend.from, to: mend.to }));
            let order = Order::new(mended.nodes.len(), &mended.edges);
            let order = order.expect("no cycle");
            prop_assert_eq!(races(&mended, &order), []);
        }

        /// An author mends the first error and compiles again: no race is lost on the way.
        #[test]
        fn what_one_edge_leaves_is_reported_again(draft in drafts()) {
            let mut draft = draft;
            let Some(mut order) = Order::new(draft.nodes.len(), &draft.edges) else { return Ok(()) };
            let mut all = races(&draft, &order);
            for _ in 0..4 {
                let mends = mends(&draft, &order, &all, |_, _| true);
                let Some(mend) = mends.first() else { break };
                draft.edge(mend.from, mend.to);
                order = Order::new(draft.nodes.len(), &draft.edges).expect("no cycle");
                let left = races(&draft, &order);
                prop_assert!(ended(mend).iter().all(|race| !left.contains(race)), "the edge ends its races");
                let orders = |race: &Race| order.ordered(nodes(&draft, race).0, nodes(&draft, race).1);
                prop_assert!(all.iter().all(|race| left.contains(race) != orders(race)), "and only what it orders");
                all = left;
            }
        }
    }

    #[test]
    fn one_edge_is_missing_into_a_chain() {
        let touch = |node, mode| whole(node, 0, mode);
        let draft = draft(
            4,
            &chain(&[1, 2, 3]),
            &[
                touch(0, Mode::Write),
                touch(1, Mode::ReadWrite),
                touch(2, Mode::ReadWrite),
                touch(3, Mode::Read),
            ],
        );
        assert_eq!(edges(&draft), [((0, 1), vec![(0, 1)])]);
    }

    #[test]
    fn three_unordered_writers_need_three_edges() {
        let touch = |node| whole(node, 0, Mode::Write);
        let draft = draft(3, &[], &[touch(0), touch(1), touch(2)]);
        let pair = |from, to| ((from, to), vec![(from, to)]);
        assert_eq!(edges(&draft), [pair(0, 1), pair(0, 2), pair(1, 2)]);
    }

    /// `first` -> each of the fan -> `last`, in that order of declaration, after a node 0 that is apart.
    fn fan(size: usize) -> (Vec<Edge>, usize) {
        let (first, last) = (1, size + 2);
        let edges = (2..last).flat_map(|node| chain(&[first, node, last])).collect();
        (edges, last)
    }

    #[test]
    fn one_edge_is_missing_into_a_fan() {
        let (edges_of_fan, last) = fan(5);
        let mut accesses = vec![whole(0, 0, Mode::Write)];
        accesses.extend((2..last).map(|node| whole(node, 0, Mode::Read)));
        let draft = draft(last + 1, &edges_of_fan, &accesses);
        assert_eq!(edges(&draft), [((0, 1), (2..last).map(|node| (0, node)).collect())]);
    }

    #[test]
    fn one_edge_is_missing_out_of_a_fan() {
        let (edges_of_fan, last) = fan(5);
        let mut accesses: Vec<_> = (2..last).map(|node| whole(node, 0, Mode::Read)).collect();
        accesses.push(whole(last + 1, 0, Mode::Write));
        let draft = draft(last + 2, &edges_of_fan, &accesses);
        let racing = (2..last).map(|node| (node, last + 1)).collect();
        assert_eq!(edges(&draft), [((last, last + 1), racing)]);
    }

    #[test]
    fn one_edge_is_missing_between_two_fans() {
        // 0..3 -> 3, and 4 -> 5..8: each of the first fan writes memory that one of the second reads.
        let mut joined: Vec<Edge> = (0..3).map(|from| Edge { from, to: 3 }).collect();
        joined.extend((5..8).map(|to| Edge { from: 4, to }));
        let accesses: Vec<_> = (0..3)
            .map(|node| whole(node, node, Mode::Write))
            .chain((5..8).map(|node| whole(node, node - 5, Mode::Read)))
            .collect();
        let draft = draft(8, &joined, &accesses);
        assert_eq!(edges(&draft), [((3, 4), vec![(0, 5), (1, 6), (2, 7)])]);
    }

    #[test]
    fn one_edge_is_missing_between_nodes_with_much_memory() {
        let accesses: Vec<_> = (0..2)
            .flat_map(|node| (0..3).map(move |resource| whole(node, resource, Mode::Write)))
            .collect();
        let draft = draft(2, &[], &accesses);
        assert_eq!(edges(&draft), [((0, 1), vec![(0, 1); 3])]);
    }

    #[test]
    fn one_edge_is_missing_at_the_end_of_a_chain() {
        let touch = |node| whole(node, 0, Mode::Write);
        let draft = draft(3, &chain(&[0, 1]), &[touch(0), touch(1), touch(2)]);
        assert_eq!(edges(&draft), [((1, 2), vec![(1, 2), (0, 2)])]);
    }

    #[test]
    fn a_fan_that_begins_nowhere_needs_an_edge_to_each() {
        let mut accesses = vec![whole(0, 0, Mode::Write)];
        accesses.extend((1..6).map(|node| whole(node, 0, Mode::Read)));
        let draft = draft(6, &[], &accesses);
        assert_eq!(found(&draft).len(), 5);
    }

    #[test]
    fn the_nearest_of_a_row_is_the_end_of_the_edge() {
        let touch = |node| whole(node, 0, Mode::Write);
        let accesses = [touch(0), touch(1), touch(2), touch(3)];
        let first = draft(4, &chain(&[3, 2, 1]), &accesses);
        assert_eq!(edges(&first), [((0, 3), vec![(0, 3)])], "the others follow from it");
        let deep = [chain(&[5, 4, 0]), chain(&[3, 2, 1])].concat();
        let all = vec![(0, 3), (0, 1), (0, 2)];
        assert_eq!(edges(&draft(6, &deep, &accesses)), [((0, 3), all)], "1 is as deep as 0");
    }

    /// Three nodes and two more, each with memory that a node of its own reads. One join runs after the three, and so
    /// does another; each may also run after one of the two more. A fork runs before the three readers.
    fn edge_between(joins: [&[usize]; 2]) -> Pair {
        let mut all: Vec<Edge> = (8..11).map(|to| Edge { from: 7, to }).collect();
        for (to, more) in [5, 6].into_iter().zip(joins) {
            all.extend([0, 1, 2].iter().chain(more).map(|&from| Edge { from, to }));
        }
        let accesses: Vec<_> = (0..5)
            .flat_map(|node| [whole(node, node, Mode::Write), whole(node + 8, node, Mode::Read)])
            .collect();
        let found = edges(&draft(13, &all, &accesses));
        let of_three = found.into_iter().find(|(_, races)| *races == [(0, 8), (1, 9), (2, 10)]);
        of_three.expect("one edge orders the three").0
    }

    #[test]
    fn of_nodes_that_join_the_same_the_one_that_joins_the_least_is_meant() {
        assert_eq!(edge_between([&[3], &[]]), (6, 7));
        assert_eq!(edge_between([&[], &[4]]), (5, 7));
        assert_eq!(edge_between([&[3], &[4]]), (5, 7), "the first of two that join as much");
    }

    #[test]
    fn more_pairs_than_are_searched_have_an_edge_each() {
        let found = |size: usize| {
            let (edges, last) = fan(size);
            let order = Order::new(last + 1, &edges).expect("edges lead forward");
            let pairs: Vec<Pair> = (2..last).map(|node| (0, node)).collect();
            shared(&order, &pairs, |_, _| true).len()
        };
        assert_eq!([MAX_PAIRS, MAX_PAIRS + 1].map(found), [1, 0]);
    }

    #[test]
    fn edges_that_may_not_be_are_not_proposed() {
        let (edges_of_fan, last) = fan(5);
        let mut accesses = vec![whole(0, 0, Mode::Write)];
        accesses.extend((2..last).map(|node| whole(node, 0, Mode::Read)));
        let draft = draft(last + 1, &edges_of_fan, &accesses);
        let order = Order::new(draft.nodes.len(), &draft.edges).unwrap();
        let mends = mends(&draft, &order, &races(&draft, &order), |_, to| to != 1);
        assert_eq!(mends.len(), 5);
    }
}
